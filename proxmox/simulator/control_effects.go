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
func (s *Server) after(effect string, c *call, r *http.Request, end *endpoint) *wire.Response {
	if err := s.Apply(effect); err != nil {
		s.log.Warn("effect of a fault", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.user, c.token = "", ""
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
	s.mu.Lock()
	names, local := s.nodeNames(), s.local
	s.mu.Unlock()
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
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.guestNamed(args[0])
	if err != nil {
		return err
	}
	if s.nodes[args[1]] == nil {
		return fmt.Errorf("no node %q", args[1])
	}
	wasOn := g.state != stopped
	s.cut(g)
	g.node = args[1]
	delete(g.conf, "lock")
	if !wasOn {
		return nil
	}
	s.fork(nil, g.node, taskKind(g, "start"), itoa(g.vmid), func(t *task) error {
		t.say("task started by HA resource agent")
		return s.powerOn(t, g.node, g.vmid, false)
	})
	return nil
}

func (s *Server) setFull(name string, full bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.storages[name] == nil {
		return fmt.Errorf("no storage %q", name)
	}
	s.storages[name].full = full
	return nil
}

// loseGuest takes a guest away with its volumes, without a task.
func (s *Server) loseGuest(args []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.guestNamed(args[0])
	if err != nil {
		return err
	}
	s.cut(g)
	maps.DeleteFunc(s.volumes, func(_ string, v *volume) bool { return v.vmid == g.vmid && v.content != "backup" })
	s.acl.RemoveGuest(g.vmid)
	delete(s.guests, g.vmid)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	user, name := permission.SplitToken(args[0])
	if _, err := s.tokenOf(user, name); err != nil {
		return err
	}
	delete(s.acl.Users[user].Tokens, name)
	s.acl.Forget(permission.KindToken, args[0])
	s.acl.Changed()
	return nil
}

func (s *Server) disableUser(args []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.acl.Users[args[0]]
	if u == nil {
		return fmt.Errorf("no user %q", args[0])
	}
	u.Enable = false
	s.acl.Changed()
	return nil
}

func (s *Server) jumpClock(args []string) error {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	s.jump.Add(int64(d))
	return nil
}
