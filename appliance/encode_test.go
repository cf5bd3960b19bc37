package appliance

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestALargeAnswerIsCompressedForWhoTakesThat(t *testing.T) {
	large := map[string]any{"text": strings.Repeat("shop ", 10000)}
	for _, test := range []struct {
		name, accepts string
		body          any
		compressed    bool
	}{
		{"a large one", "br, gzip", large, true},
		{"a large one for who takes none", "", large, false},
		{"a small one", "gzip", map[string]any{"csrf": "secret"}, false},
	} {
		rec := httptest.NewRecorder()
		r := &request{Request: httptest.NewRequest(http.MethodGet, "/api/clusters", nil), w: rec}
		r.Header.Set("Accept-Encoding", test.accepts)
		r.answer(http.StatusOK, test.body)
		var body io.Reader = rec.Body
		if compressed := rec.Header().Get("Content-Encoding") == "gzip"; compressed != test.compressed || rec.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %v", test.name, rec.Header())
		} else if compressed {
			z, err := gzip.NewReader(rec.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		text, err := io.ReadAll(body)
		if err != nil || !strings.HasPrefix(string(text), "{") || !strings.HasSuffix(string(text), "}\n") {
			t.Errorf("%s: %v, %d bytes", test.name, err, len(text))
		}
	}
}
