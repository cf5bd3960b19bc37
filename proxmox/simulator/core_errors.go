package simulator

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/schema"
)

// apiError is an error with a status of its own. Every other error becomes a 500 with its text.
// Source: pve-common src/PVE/Exception.pm.
type apiError struct {
	status  int
	message string
	errors  schema.Errors
}

func (e *apiError) Error() string { return e.message }

// text is how the error looks when it becomes part of another one's text.
func (e *apiError) text() string {
	s := strconv.Itoa(e.status) + " " + e.message
	names := make([]string, 0, len(e.errors))
	for n := range e.errors {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		s += "\n" + n + ": " + strings.TrimSuffix(e.errors[n], "\n")
	}
	return s
}

// fail is an error that the API answers with status 500.
func fail(format string, args ...any) error { return fmt.Errorf(format, args...) }

// invalid is the answer to a parameter that does not fit.
func invalid(name, format string, args ...any) error {
	return invalidAll(schema.Errors{name: fmt.Sprintf(format, args...)})
}

func invalidAll(errs schema.Errors) error {
	return &apiError{status: 400, message: "Parameter verification failed.", errors: errs}
}

// denied is the answer to a call without the privilege.
func denied(what string) error {
	if what == "" {
		return &apiError{status: 403, message: "Permission check failed"}
	}
	return &apiError{status: 403, message: "Permission check failed (" + what + ")"}
}

// flat is the text of an error as it stands in a task's exit status or within another error.
func flat(err error) string {
	var api *apiError
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
	return fail("%s: %s", prefix, flat(err))
}

// bareError is an error that is answered without a body.
type bareError struct{ *apiError }

func (e *bareError) Unwrap() error { return e.apiError }
