package retention

import (
	"testing"
	"time"
)

func TestWhichBackupsAreKept(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		options map[string]int
		want    string // newest first; k: kept, r: removed, p: protected
	}{
		"nothing is asked for":   {nil, "kkkkpk"},
		"all":                    {map[string]int{"keep-all": 1}, "kkkkpk"},
		"the last two":           {map[string]int{"keep-last": 2}, "kkrrpr"},
		"one a day, for two":     {map[string]int{"keep-daily": 2}, "krkrpr"},
		"one a month":            {map[string]int{"keep-monthly": 9}, "krrrpk"},
		"the last and one a day": {map[string]int{"keep-last": 1, "keep-daily": 1}, "krkrpr"},
	} {
		t.Run(name, func(t *testing.T) {
			var list []Backup
			for i, age := range []time.Duration{0, time.Hour, 24 * time.Hour, 25 * time.Hour, 26 * time.Hour, 40 * 24 * time.Hour} {
				list = append(list, Backup{ID: string(rune('a' + i)), Made: at.Add(-age), Protected: i == 4})
			}
			Apply(list, c.options)
			got := ""
			for _, b := range list {
				got += b.Mark[:1]
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
