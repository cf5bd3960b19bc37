package core

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/schema"
)

// APIError is an error with a status of its own. Every other error becomes a 500 with its text.
// Source: pve-common src/PVE/Exception.pm.
type APIError struct {
	Status  int
	Message string
	Errors  schema.Errors
}

// Error is the message alone, without what is wrong with parameters.
func (e *APIError) Error() string { return e.Message }

// text is how the error looks when it becomes part of another one's text.
func (e *APIError) text() string {
	s := strconv.Itoa(e.Status) + " " + e.Message
	names := make([]string, 0, len(e.Errors))
	for n := range e.Errors {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		s += "\n" + n + ": " + strings.TrimSuffix(e.Errors[n], "\n")
	}
	return s
}

// Fail is an error that the API answers with status 500.
func Fail(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Invalid is the answer to a parameter that does not fit.
func Invalid(name, format string, args ...any) error {
	return InvalidAll(schema.Errors{name: fmt.Sprintf(format, args...)})
}

// InvalidAll is Invalid for several parameters.
func InvalidAll(errs schema.Errors) error {
	return &APIError{Status: 400, Message: "Parameter verification failed.", Errors: errs}
}

// Denied is the answer to a call without the privilege.
func Denied(what string) error {
	if what == "" {
		return &APIError{Status: 403, Message: "Permission check failed"}
	}
	return &APIError{Status: 403, Message: "Permission check failed (" + what + ")"}
}

// Flat is the text of an error as it stands in a task's exit status or within another error.
func Flat(err error) string {
	var api *APIError
	if errors.As(err, &api) {
		return api.text()
	}
	return strings.TrimSuffix(err.Error(), "\n")
}

// prefixed puts what was being done before an error of a section that holds a cluster-wide lock. The error loses its
// status on the way: Proxmox VE prefixes its text.
func prefixed(prefix string, err error) error {
	if err == nil {
		return nil
	}
	return Fail("%s: %s", prefix, Flat(err))
}

// BareError is an error that is answered without a body.
type BareError struct{ *APIError }

// Unwrap is the error that has a status.
func (e *BareError) Unwrap() error { return e.APIError }
