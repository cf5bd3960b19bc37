package smarthttp

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
)

// body is a request's body in a temporary file. CGI needs its length, which git does not send for large pushes, and a push's commands are read
// from it beforehand.
type body struct{ file *os.File }

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
	n, err := io.Copy(f, http.MaxBytesReader(nil, req.Body, max))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		b.discard()
		return body{}, err
	}
	req.Body, req.ContentLength, req.TransferEncoding = io.NopCloser(f), n, nil
	return b, nil
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
	http.Error(w, "the request could not be read", http.StatusBadRequest)
}

// maxCommands bounds how many references of one push are told.
const maxCommands = 1000

// commands reads which references a push wants to move, "old new name" a line: https://git-scm.com/docs/gitprotocol-pack#_reference_update_request
func (b body) commands() (updates []Update) {
	if b.file == nil {
		return nil
	}
	scan := pktline.NewScanner(bufio.NewReader(b.file))
	for scan.Scan() && len(scan.Bytes()) > 0 && len(updates) < maxCommands {
		line, _, _ := strings.Cut(string(scan.Bytes()), "\x00") // capabilities follow
		f := strings.Fields(line)
		if len(f) == 3 && plumbing.IsHash(f[0]) && plumbing.IsHash(f[1]) {
			updates = append(updates, Update{Ref: f[2], Old: f[0], New: f[1]})
		}
	}
	if _, err := b.file.Seek(0, io.SeekStart); err != nil {
		return nil // git will fail to read it too
	}
	return updates
}
