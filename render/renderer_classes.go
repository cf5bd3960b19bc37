package render

import (
	"fmt"
	"path"
)

// loadClasses loads the classes that claims name, and makes the users of one that changed be rendered again.
func (p *pass) loadClasses() error {
	used := map[string]cached[*Class]{}
	for _, name := range sortedNames(p.users) {
		if len(p.users[name]) == 0 {
			delete(p.users, name)
			continue
		}
		c, err := p.class(name)
		if err != nil {
			return err
		}
		if known, ok := p.classes[name]; !ok || known.digest != c.digest {
			p.again(inOrder(p.users[name]))
		}
		used[name] = c
	}
	p.classes = used
	return nil
}

func (p *pass) class(name string) (cached[*Class], error) {
	if !label.MatchString(name) {
		return cached[*Class]{digest: "no name", problems: []Problem{{Message: labelRule}}}, nil
	}
	digest, err := digestOf(p.tree, path.Join(ClassesFolder, name))
	if err != nil {
		return cached[*Class]{}, err
	}
	if digest == "" {
		return p.noClass(name)
	}
	if known, ok := p.classes[name]; ok && known.digest == digest {
		return known, nil
	}
	c, problems, err := loadClass(p.tree, name)
	return cached[*Class]{digest, c, problems}, err
}

// noClass names the class that is most like one that is not there.
func (p *pass) noClass(name string) (cached[*Class], error) {
	known := map[string]bool{}
	digest, err := digestOf(p.tree, ClassesFolder)
	if err == nil && digest != "" {
		entries, listErr := p.tree.ReadDir(ClassesFolder)
		err = listErr
		for _, e := range entries {
			if e.IsDir() {
				known[e.Name()] = true
			}
		}
	}
	message := fmt.Sprintf("there is no class %q in %s%s", name, ClassesFolder, didYouMean(name, known))
	return cached[*Class]{digest: "none " + digest, problems: []Problem{{Message: message}}}, err
}

func classProblem(c cached[*Class]) string {
	if len(c.problems) == 0 {
		return ""
	}
	if c.problems[0].Path == "" {
		return c.problems[0].Message
	}
	return "the class has problems: " + c.problems[0].String()
}
