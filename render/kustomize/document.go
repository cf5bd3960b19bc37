package kustomize

import "kubehenge.dev/render/problem"

// ReadYAML reads the documents of one file under the same limits as an overlay's files. A file that does not exist is a problem too.
func ReadYAML(tree Tree, path string) (content []byte, docs []map[string]any, problems []problem.Problem, err error) {
	s := newScan(tree)
	f, err := s.read(path)
	if err != nil {
		return nil, nil, nil, err
	}
	if f == nil {
		return nil, nil, []problem.Problem{{Path: path, Message: "no such file"}}, nil
	}
	s.parse(f)
	for _, node := range f.docs {
		value, err := anyValue(node)
		doc, ok := value.(map[string]any)
		switch {
		case err != nil:
			s.tell(path, node.Line, "", err.Error())
		case !ok:
			s.tell(path, node.Line, "", "must be a map of fields")
		default:
			docs = append(docs, doc)
		}
	}
	if len(s.problems) > 0 {
		return nil, nil, problem.Sort(s.problems), nil
	}
	return f.content, docs, nil, nil
}
