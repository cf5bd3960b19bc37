package wire

import (
	"strings"
	"testing"
	"time"
)

func TestStatusLinesCannotBeSplit(t *testing.T) {
	s := New(nil, nil, func() time.Time { return time.Unix(0, 0) })
	defer s.Close()
	for name, c := range map[string]struct {
		r    Response
		want string
	}{
		"a reason of one's own":               {Response{Status: 500, Reason: "VM 100 is running - destroy failed"}, "HTTP/1.1 500 VM 100 is running - destroy failed\r\n"},
		"a line break makes it a bad request": {Response{Status: 500, Reason: "a\r\nSet-Cookie: x", Body: []byte("b")}, "HTTP/1.1 400 Bad Request\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(s.encode(c.r, true))
			if !strings.HasPrefix(got, c.want) || strings.Contains(got, "Set-Cookie") {
				t.Errorf("%q", got)
			}
		})
	}
	header := Response{Status: 200, Reason: "OK", Header: [][2]string{{"Location", "x\r\nSet-Cookie: y"}}}
	if got := string(s.encode(header, false)); strings.Contains(got, "\nSet-Cookie") {
		t.Errorf("%q", got)
	}
}
