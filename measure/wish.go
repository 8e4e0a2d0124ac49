package measure

// A wish for what comes next. The greatest of all ranks' counts.
type wish byte

const (
	goOn       wish = iota
	deliver         // the readings so far, to rank 0
	replan          // fewer repetitions or samples
	finish          // all is measured
	stopBudget      // all wishes but the last are rank 0's
	stopCancelled
)

// reason is the wish as Result.Stopped has it.
func (w wish) reason() string {
	switch w {
	case stopBudget:
		return StoppedByBudget
	case stopCancelled:
		return StoppedByContext
	}
	return ""
}
