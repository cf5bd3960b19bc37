package smarthttp

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

// body is a request's body in a temporary file, unpacked: CGI needs its length, which git does not send for large pushes, and the limit is to hold for what
// git gets to see and not for what it was packed into.
type body struct{ file *os.File }

// errCoding says that a body is packed in a way that git's clients do not use.
var errCoding = errors.New("the body may be packed with gzip and in no other way")

// spool reads the whole body, up to max bytes, and makes it the request's.
func spool(req *http.Request, max int64) (body, error) {
	if req.Body == nil || req.Method != http.MethodPost {
		return body{}, nil
	}
	f, err := os.CreateTemp("", "kubehenge-push-*")
	if err != nil {
		return body{}, err
	}
	b := body{f}
	n, err := unpack(f, req, max)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		b.discard()
		return body{}, err
	}
	req.Body, req.ContentLength, req.TransferEncoding = io.NopCloser(f), n, nil
	req.Header.Del("Content-Encoding")
	return b, nil
}

// unpack writes a request's body as it was before it was packed. More than max bytes, packed or not, are a *http.MaxBytesError.
func unpack(to io.Writer, req *http.Request, max int64) (int64, error) {
	packed := http.MaxBytesReader(nil, req.Body, max)
	switch req.Header.Get("Content-Encoding") {
	case "":
		return io.Copy(to, packed)
	case "gzip", "x-gzip":
		plain, err := gzip.NewReader(packed)
		if err != nil {
			return 0, fmt.Errorf("unpack a request: %w", err)
		}
		return io.Copy(to, http.MaxBytesReader(nil, plain, max))
	}
	return 0, errCoding
}

func (b body) discard() {
	if b.file != nil {
		_ = b.file.Close()
		_ = os.Remove(b.file.Name()) // a leftover in the temporary folder is no reason to fail a push
	}
}

func refuseBody(w http.ResponseWriter, err error) {
	if large := new(http.MaxBytesError); errors.As(err, &large) {
		http.Error(w, "the push is too large", http.StatusRequestEntityTooLarge)
		return
	}
	if errors.Is(err, errCoding) {
		http.Error(w, err.Error(), http.StatusUnsupportedMediaType)
		return
	}
	http.Error(w, "the request could not be read", http.StatusBadRequest)
}
