package harness

// Why a measurement ended early: values of Outcome.Stopped.
const (
	StoppedByBudget  = "budget"
	StoppedByContext = "context"
)

// A stop is a rank's vote on whether to go on. The greatest of all ranks' counts.
type stop byte

const (
	goOn stop = iota
	stopBudget
	stopCancelled
	stopFailed // a rank cannot do its part
)

// reason is the stop as Outcome.Stopped has it.
func (s stop) reason() string {
	switch s {
	case stopBudget:
		return StoppedByBudget
	case stopCancelled:
		return StoppedByContext
	}
	return ""
}
