//go:build !linux

package process

import (
	"errors"
	"os/exec"
	"syscall"
)

var errLinuxOnly = errors.New("the lab runs on Linux only: it needs parent-death signals and all of 127.0.0.0/8")

func spawn(*exec.Cmd) error { return errLinuxOnly }

func signal(*exec.Cmd, syscall.Signal) error { return errLinuxOnly }

// Alive reports whether a process with this ID exists.
func Alive(int) bool { return false }
