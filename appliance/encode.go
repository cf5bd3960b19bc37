package appliance

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
)

// worthCompressing is the size from which an answer is compressed. Everything that holds a session's token is far smaller, so that its length tells
// nobody of it (https://breachattack.com).
const worthCompressing = 16 << 10

func (r *request) answer(status int, body any) {
	h := r.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Add("Vary", "Accept-Encoding")
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			r.s.opts.Log.Error("answer not encoded", "method", r.Method, "path", r.URL.Path, "reason", err)
			status = http.StatusInternalServerError
			text.Reset()
		}
	}
	if text.Len() < worthCompressing || !accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		r.w.WriteHeader(status)
		_, _ = r.w.Write(text.Bytes()) // the browser is gone
		return
	}
	h.Set("Content-Encoding", "gzip")
	r.w.WriteHeader(status)
	z, _ := gzip.NewWriterLevel(r.w, gzip.BestSpeed) // the level is one of gzip's
	_, _ = z.Write(text.Bytes())
	_ = z.Close()
}
