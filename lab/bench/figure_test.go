package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPercentilesAreValuesThatWereMeasured(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100 - i)
	}
	for name, c := range map[string]struct {
		values []time.Duration
		p      int
		want   time.Duration
	}{
		"of none there is none":                           {nil, 50, 0},
		"of one it is that one":                           {[]time.Duration{7}, 99, 7},
		"the median of three is the middle one":           {[]time.Duration{9, 1, 5}, 50, 5},
		"the median of four is the lower middle one":      {[]time.Duration{4, 3, 2, 1}, 50, 2},
		"99 of a hundred is the last but one":             {hundred, 99, 99},
		"99 of sixty is the greatest, as none is between": {hundred[:60], 99, 100},
		"100 is the greatest":                             {hundred, 100, 100},
		"0 is the least":                                  {hundred, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := percentile(c.values, c.p); got != c.want {
				t.Errorf("p%d: %d, want %d", c.p, got, c.want)
			}
		})
	}
}

func TestPercentileLeavesTheValuesInTheirOrder(t *testing.T) {
	values := []time.Duration{3, 1, 2}
	percentile(values, 50)
	if diff := cmp.Diff([]time.Duration{3, 1, 2}, values); diff != "" {
		t.Error(diff)
	}
}

var report = Report{
	Machine: Machine{Processors: 2, Load: "0.10"},
	Figures: []Figure{
		{Name: "fast", Value: 0.0424, Unit: Seconds, Target: 0.05, Note: "quick"},
		{Name: "slow", Value: 3.5, Unit: Seconds, Target: 3, Note: "lame"},
		{Name: "full", Value: 60, Unit: PerMinute, Target: 60, AtMost: true},
		{Name: "heavy", Value: 300, Unit: Megabytes, Target: 300},
		{Name: "free", Value: 5.04, Unit: Times},
	},
}

func TestTheTableTellsTargetsAndWhatMissesThem(t *testing.T) {
	var out bytes.Buffer
	if err := report.Table(&out); err != nil {
		t.Fatal(err)
	}
	want := `FIGURE  MEASURED     TARGET                NOTE
fast    42 ms        under 50 ms           quick
slow    3.50 s       under 3 s, missed     lame
full    60 a minute  at most 60 a minute   
heavy   300 MB       under 300 MB, missed  
free    5.0 times    -                     

Measured on 2 processors; load average before the start: 0.10.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestJSONHasATargetOnlyWhereThereIsOne(t *testing.T) {
	var out bytes.Buffer
	if err := report.JSON(&out); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Machine Machine
		Figures []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Machine != report.Machine || len(got.Figures) != len(report.Figures) {
		t.Errorf("got %s", out.String())
	}
	slow := map[string]any{"figure": "slow", "value": 3.5, "unit": "seconds", "target": 3.0, "met": false, "note": "lame"}
	if diff := cmp.Diff(slow, got.Figures[1]); diff != "" {
		t.Errorf("one that misses its target (-want +got):\n%s", diff)
	}
	if _, has := got.Figures[4]["met"]; has {
		t.Error("a figure without a target says that it is met")
	}
}

func TestMemoryIsReadFromTheProcessStatus(t *testing.T) {
	got, err := parseMemory("Name:\tkubehenge\nVmHWM:\t  200000 kB\nVmRSS:\t  100000 kB\nThreads:\t7\n")
	if want := (memory{resident: 102.4, peak: 204.8}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := parseMemory("Name:\tkthreadd\n"); err == nil {
		t.Error("a process without memory is taken for one")
	}
}

func TestResidentMemoryIsSplitByWhatIsBehindIt(t *testing.T) {
	got, err := parsePages("00400000-7fff0000 ---p 00000000 00:00 0 [rollup]\nRss:\t  100000 kB\nPss:\t 50000 kB\nAnonymous:\t   25000 kB\nAnonHugePages: 0 kB\n")
	if want := (pages{resident: 102.4, anonymous: 25.6}); err != nil || got != want || got.files() != want.resident-want.anonymous {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for name, text := range map[string]string{"half of it missing": "Rss: 100 kB\n", "no number": "Rss: many kB\nAnonymous: 1 kB\n"} {
		if _, err := parsePages(text); err == nil {
			t.Errorf("%s: taken for a process's memory", name)
		}
	}
}

func TestWorkIsWhatIsQueuedAndWhatIsInHand(t *testing.T) {
	const metrics = `# HELP workqueue_depth Current depth of workqueue
# TYPE workqueue_depth gauge
workqueue_depth{controller="claim",name="claim",priority="0"} 2
workqueue_depth{controller="claim",name="claim",priority="100"} 3
workqueue_depth{controller="fleet",name="fleet",priority="0"} 40
controller_runtime_active_workers{controller="claim"} 1
kubehenge_commit_age_seconds 1.5e+02
`
	got, err := parseSamples(strings.NewReader(metrics))
	if err != nil {
		t.Fatal(err)
	}
	if got.working() != 6 || got[commitAge] != 150 {
		t.Errorf("working %v of 6, age %v of 150", got.working(), got[commitAge])
	}
	if _, err := parseSamples(strings.NewReader("a b\n")); err == nil {
		t.Error("what is no number is taken for one")
	}
}
