package wire

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
)

// smallest is the size from which bodies are compressed for those who ask for it. Source: pve-http-server AnyEvent.pm.
const smallest = 1024

// compress packs a body that is worth it in the way that the client understands, gzip before deflate.
func (r *Response) compress(accepted string) {
	if len(r.Body) <= smallest {
		return
	}
	var b bytes.Buffer
	var w io.WriteCloser
	name := ""
	switch {
	case strings.Contains(accepted, "gzip"):
		name, w = "gzip", must(gzip.NewWriterLevel(&b, gzip.BestSpeed))
	case strings.Contains(accepted, "deflate"):
		name, w = "deflate", must(zlib.NewWriterLevel(&b, zlib.BestSpeed))
	default:
		return
	}
	_, _ = w.Write(r.Body) // a buffer takes everything
	_ = w.Close()
	r.Body, r.Header = b.Bytes(), append(r.Header[:len(r.Header):len(r.Header)], [2]string{"Content-Encoding", name})
}

// must is for writers that only fail at a level that does not exist.
func must[W io.WriteCloser](w W, err error) W {
	if err != nil {
		panic(err)
	}
	return w
}
