package harness

// Why a measurement ended early: values of Outcome.Stopped.
const (
	StoppedByBudget  = "budget"
	StoppedByContext = "context"
)

// A wish for what comes next. The greatest of all ranks' counts.
type wish byte

const (
	goOn       wish = iota
	deliver         // the rows so far, to rank 0
	replan          // fewer repetitions or samples
	finish          // all is measured
	stopBudget      // all wishes up to this one are rank 0's
	stopCancelled
	stopFailed // a rank cannot do its part
)

// A word of the barrier of all ranks holds a wish and, below it, the logarithm of
// how many rounds are to pass before the next one of all: only rank 0 has one above 0.
const paceBits = 4

func (w wish) word(pace int) byte { return byte(w)<<paceBits | byte(pace) }

func wishOf(word byte) (w wish, pace int) {
	return wish(word >> paceBits), int(word & (1<<paceBits - 1))
}

// reason is the wish as Outcome.Stopped has it.
func (w wish) reason() string {
	switch w {
	case stopBudget:
		return StoppedByBudget
	case stopCancelled:
		return StoppedByContext
	}
	return ""
}
