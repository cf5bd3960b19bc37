package proxmox

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
)

// tokenID is user@realm!token; Proxmox VE's PVE/AccessControl.pm has the rule.
var tokenID = regexp.MustCompile(`^[^\s:/!=]+@[A-Za-z][A-Za-z0-9._-]+![A-Za-z][A-Za-z0-9._-]+$`)

// secretForm leaves out everything that could break out of a header; Proxmox VE's secrets are UUIDs.
var secretForm = regexp.MustCompile(`^[A-Za-z0-9-]{8,128}$`)

// token is an API token whose secret may be exchanged in its file while the process runs.
type token struct {
	id     string
	secret string // used where there is no file
	file   string // read afresh for each call, since a mounted Secret changes when the token is rotated
}

// read is the secret. Its errors name the file and never its content.
func (t token) read() (string, error) {
	if t.file == "" {
		return t.secret, nil
	}
	raw, err := os.ReadFile(t.file)
	if err != nil {
		return "", fmt.Errorf("read the token's secret: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if !secretForm.MatchString(secret) {
		return "", fmt.Errorf("file %s does not hold the secret of a Proxmox VE token (one line, letters, digits and dashes)", t.file)
	}
	return secret, nil
}

func (t token) check() error {
	switch {
	case !tokenID.MatchString(t.id):
		return fmt.Errorf("token id %q is not of the form user@realm!name", t.id)
	case t.file != "" && t.secret != "":
		return errors.New("the token's secret is given twice, as file and as text")
	case t.file == "" && !secretForm.MatchString(t.secret):
		return errors.New("the token's secret is missing or malformed")
	}
	_, err := t.read()
	return err
}

// sign puts the token into the request's header.
func (t token) sign(req *http.Request) (string, error) {
	secret, err := t.read()
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "PVEAPIToken="+t.id+"="+secret)
	return secret, nil
}
