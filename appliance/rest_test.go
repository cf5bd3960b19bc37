package appliance

import "testing"

func TestMemoryIsGivenBackOnceWorkHasEnded(t *testing.T) {
	const mb = 1 << 20
	var r rest
	for i, look := range []struct {
		why  string
		took uint64 // since the look before, in MB
		want bool
	}{
		{"the start is work", 60, false},
		{"and has ended", 1, true},
		{"nothing was done", 1, false},
		{"a little is no work", 3, false},
		{"one that is busy is left alone", 500, false},
		{"and as long as it is", 5, false},
		{"and then it is not", 0, true},
		{"little by little", 4, false},
		{"little by little", 4, false},
		{"little by little", 4, false},
		{"it adds up", 4, true},
	} {
		if got := r.due(r.seen + look.took*mb); got != look.want {
			t.Errorf("%d, %s: %t, want %t", i, look.why, got, look.want)
		}
	}
}

func TestWhatIsAskedForIsCounted(t *testing.T) {
	before := askedFor()
	kept = make([]byte, 1<<20)
	if got := askedFor() - before; got < 1<<20 {
		t.Errorf("%d bytes for a megabyte", got)
	}
}

// kept keeps the compiler from leaving it out.
var kept []byte
