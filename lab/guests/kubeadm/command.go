package kubeadm

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Command is a kubeadm command in a line of the shell.
type Command struct {
	Verb   string // init or join
	Config string // path of the configuration file
	// Sentinel is the file that the line writes after success ("&& echo success > FILE"); empty without one.
	Sentinel string
}

// ParseCommand finds the kubeadm command in a line of the shell; ok is false when the line has none.
func ParseCommand(line string) (command Command, ok bool) {
	run, after, _ := strings.Cut(line, "&&")
	words := strings.Fields(run)
	if len(words) < 2 || words[0] != "kubeadm" || words[1] != "init" && words[1] != "join" {
		return Command{}, false
	}
	command.Verb = words[1]
	for i, word := range words {
		if value, found := strings.CutPrefix(word, "--config="); found {
			command.Config = value
		}
		if word == "--config" && i+1 < len(words) {
			command.Config = words[i+1]
		}
	}
	if _, file, found := strings.Cut(after, ">"); found {
		command.Sentinel = strings.TrimSpace(file)
	}
	return command, true
}

// Joined is a machine's membership in a cluster.
type Joined struct {
	Cluster Cluster // nil until the machine is part of one
	Node    string
}

// Run runs a command on a host and returns what the host is then part of.
func (k *Kubeadm) Run(ctx context.Context, c Command, h Host) (Joined, error) {
	joined, err := k.run(ctx, c, h)
	if err != nil {
		return Joined{}, fmt.Errorf("kubeadm %s: %w", c.Verb, err)
	}
	if c.Sentinel != "" {
		h.Files.Write(c.Sentinel, []byte("success\n"))
	}
	return joined, nil
}

func (k *Kubeadm) run(ctx context.Context, c Command, h Host) (Joined, error) {
	if err := h.check(); err != nil {
		return Joined{}, err
	}
	if c.Config == "" {
		return Joined{}, errors.New("no --config given")
	}
	data, err := h.Files.Read(c.Config)
	if err != nil {
		return Joined{}, err
	}
	config, err := DecodeConfig(data)
	if err != nil {
		return Joined{}, err
	}
	if c.Verb == "init" {
		return k.initialize(ctx, config, h)
	}
	return k.join(ctx, config, h)
}
