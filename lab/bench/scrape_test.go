package bench

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestPollAsksAgainUntilYesOrAFinalAnswer(t *testing.T) {
	asked, broken := 0, errors.New("broken")
	err := poll(t.Context(), time.Millisecond, func(context.Context) (bool, error) {
		asked++
		return asked == 3, map[int]error{1: broken}[asked]
	})
	if err != nil || asked != 3 {
		t.Errorf("asked %d times, and then %v; want a yes the third time", asked, err)
	}
	asked = 0
	err = poll(t.Context(), time.Millisecond, func(context.Context) (bool, error) { asked++; return false, final{broken} })
	if asked != 1 || !errors.Is(err, broken) {
		t.Errorf("asked %d times after a final answer, and then %v", asked, err)
	}
}
