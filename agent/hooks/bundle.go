package hooks

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"
)

// mostAuthorities bounds the bundle, whatever stands in the live object.
const mostAuthorities = 8

// bundle is what Cluster API is to trust: the certificates of the file and, while they are valid, those that it
// trusted so far. Replicas get a new certificate one after the other, so for a while one still serves the old one.
// To take a CA back at once, delete the ExtensionConfig: it comes back with the file's alone.
func bundle(file, live []byte, now time.Time) ([]byte, error) {
	wanted, err := certificates(file)
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		return nil, errors.New("it holds no certificate")
	}
	before, _ := certificates(live) // what cannot be read is not kept
	for _, c := range before {
		same := func(w *x509.Certificate) bool { return bytes.Equal(w.Raw, c.Raw) }
		if now.Before(c.NotAfter) && len(wanted) < mostAuthorities && !slices.ContainsFunc(wanted, same) {
			wanted = append(wanted, c)
		}
	}
	var out bytes.Buffer
	for _, c := range wanted {
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func certificates(data []byte) ([]*x509.Certificate, error) {
	var list []*x509.Certificate
	for {
		block, rest := pem.Decode(data)
		if block == nil {
			return list, nil
		}
		data = rest
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("it holds a %s among the certificates", block.Type)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
}
