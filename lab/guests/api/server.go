// Package api serves machines over HTTP: JSON in and out, for the simulated hypervisor.
//
//	POST /v1/start    {guest}                  switch on; returns at once
//	POST /v1/stop     {guest}                  switch off
//	POST /v1/destroy  {guest}                  forget the machine
//	POST /v1/agent    {guest, command, args}   {result}, or 409 while no agent answers, or 422 {error: {class, desc}}
//	GET  /v1/machines                          what every machine is doing
package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"kubehenge.dev/lab/guests/vm"
)

// maxBody bounds a request: a medium of 16 MiB in base64, and some more. In bytes.
const maxBody = 24 << 20

// Machines is what the API needs of them.
type Machines interface {
	Start(ctx context.Context, g vm.Guest) error
	Stop(ctx context.Context, g vm.Guest) error
	Destroy(ctx context.Context, g vm.Guest) error
	Agent(ctx context.Context, g vm.Guest, command string, args map[string]any) (any, error)
	Report() []vm.Report
}

// request is the body of every call.
type request struct {
	Guest   vm.Guest       `json:"guest"`
	Command string         `json:"command"`
	Args    map[string]any `json:"args"`
}

// Handler serves the API.
func Handler(machines Machines) http.Handler {
	mux := http.NewServeMux()
	for path, act := range map[string]func(context.Context, vm.Guest) error{
		"POST /v1/start": machines.Start, "POST /v1/stop": machines.Stop, "POST /v1/destroy": machines.Destroy,
	} {
		mux.HandleFunc(path, power(act))
	}
	mux.HandleFunc("POST /v1/agent", agent(machines))
	mux.HandleFunc("GET /v1/machines", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]any{"machines": machines.Report()})
	})
	return mux
}

func power(act func(context.Context, vm.Guest) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := read(w, r)
		if !ok {
			return
		}
		// Switching a machine off must not stop half way because the caller has gone.
		if err := act(context.WithoutCancel(r.Context()), body.Guest); err != nil {
			writeError(w, http.StatusInternalServerError, "GenericError", err.Error())
			return
		}
		write(w, http.StatusOK, struct{}{})
	}
}

func agent(machines Machines) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, ok := read(w, r)
		if !ok {
			return
		}
		result, err := machines.Agent(r.Context(), body.Guest, body.Command, body.Args)
		var refused *vm.AgentError
		switch {
		case err == nil:
			write(w, http.StatusOK, map[string]any{"result": result})
		case errors.Is(err, vm.ErrAgentNotRunning):
			writeError(w, http.StatusConflict, "AgentNotRunning", err.Error())
		case errors.As(err, &refused):
			writeError(w, http.StatusUnprocessableEntity, refused.Class, refused.Desc)
		default:
			writeError(w, http.StatusInternalServerError, "GenericError", err.Error())
		}
	}
}

func read(w http.ResponseWriter, r *http.Request) (request, bool) {
	var body request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		writeError(w, http.StatusBadRequest, "GenericError", "decode request: "+err.Error())
		return request{}, false
	}
	return body, true
}

func writeError(w http.ResponseWriter, code int, class, desc string) {
	write(w, code, map[string]any{"error": map[string]string{"class": class, "desc": desc}})
}

func write(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client has gone
}
