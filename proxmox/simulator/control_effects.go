package simulator

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/api/access"
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/fault"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/wire"
)

// effects are what can happen to the cluster, by name; what they mean stands in fault.Effects.
var effects = map[string]func(s *Server, args []string) error{
	"node-off":        func(s *Server, a []string) error { return s.SetNodeOnline(a[0], false) },
	"node-on":         func(s *Server, a []string) error { return s.SetNodeOnline(a[0], true) },
	"node-removed":    func(s *Server, a []string) error { return s.RemoveNode(a[0]) },
	"maintenance-on":  func(s *Server, a []string) error { return s.SetMaintenance(a[0], true) },
	"maintenance-off": func(s *Server, a []string) error { return s.SetMaintenance(a[0], false) },
	"quorum-lost":     func(s *Server, _ []string) error { return s.setOthers(false) },
	"quorum-back":     func(s *Server, _ []string) error { return s.setOthers(true) },
	"ha-move":         (*Server).recoverOn,
	"storage-full":    func(s *Server, a []string) error { return s.setFull(a[0], true) },
	"storage-free":    func(s *Server, a []string) error { return s.setFull(a[0], false) },
	"guest-gone":      (*Server).loseGuest,
	"guest-lock":      func(s *Server, a []string) error { return s.setLockOf(a[0], a[1]) },
	"guest-unlock":    func(s *Server, a []string) error { return s.setLockOf(a[0], "") },
	"token-revoked":   (*Server).revokeToken,
	"user-disabled":   (*Server).disableUser,
	"clock-jump":      (*Server).jumpClock,
}

// Apply lets an effect happen to the cluster now, such as "node-off pve3"; see fault.Effects for all of them.
func (s *Server) Apply(effect string) error {
	e, err := fault.ParseEffect(effect)
	if err != nil {
		return err
	}
	if err := effects[e.Kind](s, e.Arguments); err != nil {
		return fmt.Errorf("effect %q: %w", effect, err)
	}
	return nil
}

// after lets an effect happen and signs the caller in anew: its token may be gone, its ticket out of date.
func (s *Server) after(effect string, c *core.Call, r *http.Request, end *core.Endpoint) *wire.Response {
	if err := s.Apply(effect); err != nil {
		s.state.Log.Warn("effect of a fault", "error", err)
	}
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	c.User, c.Token = "", ""
	return s.signIn(c, r, end)
}

func (s *Server) applyAll(body io.Reader) error {
	lines := bufio.NewScanner(io.LimitReader(body, 1<<20))
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			if err := s.Apply(line); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func (s *Server) setOthers(online bool) error {
	s.state.Mu.Lock()
	names, local := s.state.NodeNames(), s.state.Local
	s.state.Mu.Unlock()
	for _, n := range names {
		if n == local {
			continue
		}
		if err := s.SetNodeOnline(n, online); err != nil {
			return err
		}
	}
	return nil
}

// recoverOn puts a guest on another node as the HA manager does after it fenced the one before.
func (s *Server) recoverOn(args []string) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	g, err := s.state.GuestNamed(args[0])
	if err != nil {
		return err
	}
	if s.state.Nodes[args[1]] == nil {
		return fmt.Errorf("no node %q", args[1])
	}
	wasOn := g.State != core.Stopped
	guest.Cut(s.state, g)
	g.Node = args[1]
	delete(g.Conf, "lock")
	if !wasOn {
		return nil
	}
	s.state.Fork(nil, g.Node, core.TaskKind(g, "start"), core.Itoa(g.VMID), func(t *core.Task) error {
		t.Say("task started by HA resource agent")
		return guest.PowerOn(s.state, t, g.Node, g.VMID, false)
	})
	return nil
}

func (s *Server) setFull(name string, full bool) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	if s.state.Storages[name] == nil {
		return fmt.Errorf("no storage %q", name)
	}
	s.state.Storages[name].Full = full
	return nil
}

// loseGuest takes a guest away with its volumes, without a task.
func (s *Server) loseGuest(args []string) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	g, err := s.state.GuestNamed(args[0])
	if err != nil {
		return err
	}
	guest.Cut(s.state, g)
	maps.DeleteFunc(s.state.Volumes, func(_ string, v *core.Volume) bool { return v.VMID == g.VMID && v.Content != "backup" })
	s.state.ACL.RemoveGuest(g.VMID)
	delete(s.state.Guests, g.VMID)
	return nil
}

func (s *Server) setLockOf(id, lock string) error {
	vmid, err := strconv.Atoi(id)
	if err != nil {
		return fmt.Errorf("no guest %q", id)
	}
	return s.SetLock(vmid, lock)
}

func (s *Server) revokeToken(args []string) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	user, name := permission.SplitToken(args[0])
	if _, err := access.TokenOf(s.state, user, name); err != nil {
		return err
	}
	delete(s.state.ACL.Users[user].Tokens, name)
	s.state.ACL.Forget(permission.KindToken, args[0])
	s.state.ACL.Changed()
	return nil
}

func (s *Server) disableUser(args []string) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	u := s.state.ACL.Users[args[0]]
	if u == nil {
		return fmt.Errorf("no user %q", args[0])
	}
	u.Enable = false
	s.state.ACL.Changed()
	return nil
}

func (s *Server) jumpClock(args []string) error {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	s.state.Jump.Add(int64(d))
	return nil
}
