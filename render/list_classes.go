package render

import (
	"errors"
	"fmt"
	"io/fs"
)

// ListClasses are the classes of a tree that have no problems, by name, whether or not a claim uses them.
func ListClasses(tree Tree) ([]*Class, error) {
	entries, err := tree.ReadDir(ClassesFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the classes: %w", err)
	}
	var list []*Class
	for _, e := range entries {
		if !e.IsDir() || !label.MatchString(e.Name()) {
			continue
		}
		c, _, err := loadClass(tree, e.Name())
		if err != nil {
			return nil, err
		}
		if c != nil {
			list = append(list, c)
		}
	}
	return list, nil
}
