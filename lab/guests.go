package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/process"
	"kubehenge.dev/proxmox/simulator"
)

// Guests is the name of the process that plays what runs inside the simulated VMs.
const Guests = build.Guests

// GuestKind is what runs inside the simulated VMs.
type GuestKind string

// Light guests are played in memory, by one API server and etcd a cluster. With real ones every control-plane VM runs an
// etcd member and a kube-apiserver, about 300 MiB; nodes run pods in name only. Auto makes a cluster real when memory
// allows as its first VM comes up.
const (
	LightGuests GuestKind = "light"
	RealGuests  GuestKind = "real"
	AutoGuests  GuestKind = "auto"
)

func (l *Lab) guestsSocket() string { return l.path("run", "guests.sock") }

func (l *Lab) guestsSpec() process.Spec {
	return process.Spec{
		Name: Guests,
		Path: l.programs.Binaries[build.Guests],
		Args: []string{
			"--socket=" + l.guestsSocket(), fmt.Sprintf("--pace=%g", l.options.Pace), "--kind=" + string(l.options.Guests),
			"--controlplane=" + l.programs.Binaries[build.ControlPlane], "--data=" + l.path("guests"),
		},
		Env:   collecting(50),
		Ready: process.Dial("unix", l.guestsSocket()),
	}
}

// guests asks the guests' process over its socket.
type guests struct{ client *http.Client }

// guestRequest is the body of each of its calls.
type guestRequest struct {
	Guest   simulator.Guest `json:"guest"`
	Command string          `json:"command,omitempty"`
	Args    map[string]any  `json:"args,omitempty"`
}

func newGuests(socket string) *guests {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &guests{client: &http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// Start implements simulator.Guests.
func (g *guests) Start(ctx context.Context, vm simulator.Guest) error {
	_, err := g.call(ctx, "start", guestRequest{Guest: vm})
	return err
}

// Stop implements simulator.Guests.
func (g *guests) Stop(ctx context.Context, vm simulator.Guest) {
	_, _ = g.call(ctx, "stop", guestRequest{Guest: vm})
}

// Destroy implements simulator.Guests.
func (g *guests) Destroy(ctx context.Context, vm simulator.Guest) {
	_, _ = g.call(ctx, "destroy", guestRequest{Guest: vm})
}

// Agent implements simulator.Guests.
func (g *guests) Agent(ctx context.Context, vm simulator.Guest, call simulator.AgentCall) (simulator.AgentReply, error) {
	vm.ISO = nil // the agent's answers do not depend on it, and it is large
	body, err := g.call(ctx, "agent", guestRequest{Guest: vm, Command: call.Command, Args: call.Args})
	if err != nil {
		return simulator.AgentReply{}, err
	}
	var reply simulator.AgentReply
	if err := json.Unmarshal(body, &reply); err != nil {
		return simulator.AgentReply{}, fmt.Errorf("read the guest agent's answer: %w", err)
	}
	return reply, nil
}

func (g *guests) call(ctx context.Context, verb string, request guestRequest) ([]byte, error) {
	data, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://guests/v1/"+verb, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	response, err := g.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s guest %d: %w", verb, request.Guest.VMID, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s guest %d: %w", verb, request.Guest.VMID, err)
	case response.StatusCode == http.StatusConflict:
		return nil, simulator.ErrAgentNotRunning
	case response.StatusCode == http.StatusUnprocessableEntity:
		return nil, agentError(body)
	case response.StatusCode >= http.StatusMultipleChoices:
		return nil, fmt.Errorf("%s guest %d: %s: %s", verb, request.Guest.VMID, response.Status, bytes.TrimSpace(body))
	}
	return body, nil
}

// agentError is what the agent itself refused.
func agentError(body []byte) error {
	var answer struct {
		Error simulator.AgentError `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("read the guest agent's refusal: %w", err)
	}
	return &answer.Error
}
