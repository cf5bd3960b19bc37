package core

import "strings"

// Guard tells whether a call is allowed. It runs before the parameters are verified.
type Guard func(*Call) error

// Anyone lets every signed-in user call.
func Anyone(*Call) error { return nil }

// Superuser lets only root@pam call; endpoints without a rule of their own have this one.
func Superuser(c *Call) error {
	if c.User != "root@pam" || c.Token != "" {
		return Denied("user != root@pam")
	}
	return nil
}

// Need asks for a privilege on a path; {name} in the path stands for a parameter. Several privileges joined by "|": one
// of them is enough.
func Need(path, privileges string) Guard {
	return func(c *Call) error {
		return c.Check(c.expand(path), privileges)
	}
}

// All asks for everything.
func All(list ...Guard) Guard {
	return func(c *Call) error {
		for _, a := range list {
			if err := a(c); err != nil {
				return err
			}
		}
		return nil
	}
}

// Either is content with one; a refusal does not say what was missing.
func Either(list ...Guard) Guard {
	return func(c *Call) error {
		for _, a := range list {
			if a(c) == nil {
				return nil
			}
		}
		return Denied("")
	}
}

// Given applies a rule only if the call has the parameter.
func Given(param string, a Guard) Guard {
	return func(c *Call) error {
		if c.Text(param) == "" {
			return Denied("")
		}
		return a(c)
	}
}

// Check asks for privileges ("A|B": one of them) of the caller on a path.
func (c *Call) Check(path, privileges string) error {
	if c.May(path, privileges) {
		return nil
	}
	return Denied(path + ", " + privileges)
}

// May is check as a question.
func (c *Call) May(path, privileges string) bool {
	return c.State.ACL.HasAny(c.Subject(), path, strings.Split(privileges, "|")...)
}

// expand fills parameters into a path. What they hold is not expanded again.
func (c *Call) expand(path string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(path, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(c.placeholder(name))
		path = after
	}
}

// placeholder is a parameter by its name, or the realm of the user that the call is about for "@realm".
func (c *Call) placeholder(name string) string {
	if name != "@realm" {
		return c.Text(name)
	}
	user := c.Text("userid")
	return user[strings.LastIndexByte(user, '@')+1:]
}
