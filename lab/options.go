package lab

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/crypto/ssh"
)

// DefaultIndex is the lab that is started unless told otherwise, on 127.10.0.0/16.
const DefaultIndex = 10

// Options say which lab to start. The zero value is the lab with DefaultIndex.
type Options struct {
	// Index chooses the lab's addresses, 127.<Index>.0.0/16: 1 to 250. Default: DefaultIndex.
	Index int
	// DataDir is the lab's folder; a start empties it if it is a lab's. Default: kubehenge/lab-<Index> in the user's
	// state folder ($XDG_STATE_HOME or ~/.local/state).
	DataDir string
	// BinDir is a folder of prebuilt programs (kubehenge lab build --output). Default: build them, once.
	BinDir string
	// Kubehenge is the program that runs as agent and as stand-in for capmox. Default: built like the others.
	Kubehenge string
	// Pace scales the delays of the stand-in for capmox and of the simulated Proxmox VE's tasks: 1 is as in life.
	// Default: 0.1.
	Pace float64
	// ProxmoxVersion is the version that the simulated Proxmox VE plays: 9.2 or 8.4. Default: 9.2.
	ProxmoxVersion string
	// Capmox runs this capmox in place of the stand-in, with the CRDs and webhooks in CapmoxManifests, a
	// kustomization's folder or a YAML file. Its webhook port is fixed: one such lab a machine.
	Capmox, CapmoxManifests string
	// WithoutCapmoxPatches leaves out the patches that capmox's manifests are installed with, to see what they are for.
	WithoutCapmoxPatches bool
	// WithoutClusterAPI installs Cluster API's kinds without its webhooks and starts none of its providers: a
	// Cluster is accepted as its schema has it, and nothing is built from it. For measurements of Kubehenge alone.
	WithoutClusterAPI bool
	// Guests is the kind of what runs inside the simulated VMs. Default: LightGuests.
	Guests GuestKind
	// WithoutAppliance starts no appliance, and serves the repository from this process, where every push is taken.
	WithoutAppliance bool
	// WithoutAgent starts all but the agent.
	WithoutAgent bool
	// Agents is how many replicas of the agent run; with more than one they elect a leader. Default: 1.
	Agents int
	// AgentArgs are added to the agent's command line.
	AgentArgs []string
	// ApplianceArgs are added to the appliance's command line.
	ApplianceArgs []string
	// Signer signs the lab's own commits, which the agent accepts then. It also accepts what the appliance made or
	// took; without either it accepts unsigned commits.
	Signer ssh.Signer
	// Out gets one line a step. Default: nowhere.
	Out io.Writer
}

// defaultPace makes a cluster come up in about a minute.
const defaultPace = 0.1

func (o Options) withDefaults() (Options, error) {
	if o.Index == 0 {
		o.Index = DefaultIndex
	}
	if o.Index < 1 || o.Index > 250 {
		return o, fmt.Errorf("a lab's index is 1 to 250, not %d", o.Index)
	}
	if o.Agents == 0 {
		o.Agents = 1
	}
	if o.Pace == 0 {
		o.Pace = defaultPace
	}
	if o.Guests == "" {
		o.Guests = LightGuests
	}
	if !slices.Contains([]GuestKind{LightGuests, RealGuests, AutoGuests}, o.Guests) {
		return o, fmt.Errorf("guests are light, real or auto, not %q", o.Guests)
	}
	if (o.Capmox == "") != (o.CapmoxManifests == "") {
		return o, fmt.Errorf("a capmox of your own needs both its program and its manifests")
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.DataDir == "" {
		state, err := stateDir()
		if err != nil {
			return o, err
		}
		o.DataDir = filepath.Join(state, "kubehenge", fmt.Sprintf("lab-%d", o.Index))
	}
	dir, err := filepath.Abs(o.DataDir)
	o.DataDir = dir
	return o, err
}

func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for the lab's data: %w", err)
	}
	return filepath.Join(home, ".local", "state"), nil
}
