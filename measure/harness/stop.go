package harness

// Stopped is why a measurement ended early; "" if it did not.
type Stopped string

// The reasons.
const (
	StoppedByBudget  Stopped = "budget"
	StoppedByContext Stopped = "context"

	StoppedUnfinished Stopped = "unfinished" // the process ended first, and left a journal
)

// A stop is a rank's vote on whether to go on. The greatest of all ranks' counts.
type stop byte

const (
	goOn stop = iota
	stopBudget
	stopCancelled
	stopFailed // a rank cannot do its part
)

// reason is why the ranks have stopped, if the measurement has a result then.
func (s stop) reason() Stopped {
	return [...]Stopped{stopBudget: StoppedByBudget, stopCancelled: StoppedByContext, stopFailed: ""}[s]
}
