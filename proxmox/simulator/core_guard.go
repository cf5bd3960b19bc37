package simulator

import "strings"

// guard tells whether a call is allowed. It runs before the parameters are verified.
type guard func(*call) error

// anyone lets every signed-in user call.
func anyone(*call) error { return nil }

// superuser lets only root@pam call; endpoints without a rule of their own have this one.
func superuser(c *call) error {
	if c.user != "root@pam" || c.token != "" {
		return denied("user != root@pam")
	}
	return nil
}

// need asks for a privilege on a path; {name} in the path stands for a parameter. Several privileges joined by "|": one
// of them is enough.
func need(path, privileges string) guard {
	return func(c *call) error {
		return c.check(c.expand(path), privileges)
	}
}

// all asks for everything.
func all(list ...guard) guard {
	return func(c *call) error {
		for _, a := range list {
			if err := a(c); err != nil {
				return err
			}
		}
		return nil
	}
}

// either is content with one; a refusal does not say what was missing.
func either(list ...guard) guard {
	return func(c *call) error {
		for _, a := range list {
			if a(c) == nil {
				return nil
			}
		}
		return denied("")
	}
}

// given applies a rule only if the call has the parameter.
func given(param string, a guard) guard {
	return func(c *call) error {
		if c.text(param) == "" {
			return denied("")
		}
		return a(c)
	}
}

// check asks for privileges ("A|B": one of them) of the caller on a path.
func (c *call) check(path, privileges string) error {
	if c.may(path, privileges) {
		return nil
	}
	return denied(path + ", " + privileges)
}

// may is check as a question.
func (c *call) may(path, privileges string) bool {
	return c.s.acl.HasAny(c.subject(), path, strings.Split(privileges, "|")...)
}

// expand fills parameters into a path. What they hold is not expanded again.
func (c *call) expand(path string) string {
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
func (c *call) placeholder(name string) string {
	if name != "@realm" {
		return c.text(name)
	}
	user := c.text("userid")
	return user[strings.LastIndexByte(user, '@')+1:]
}
