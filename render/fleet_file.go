package render

import "kubehenge.dev/api/v1alpha1"

// FleetOf reads the Fleet alone, with defaults filled in, of the repository in a folder; of the nearest folder upwards
// that holds clusters/ where none is given. It is nil with problems.
func FleetOf(repository string) (*v1alpha1.Fleet, []Problem, error) {
	root, err := findRepository(repository)
	if err != nil {
		return nil, nil, err
	}
	tree, err := Dir(root)
	if err != nil {
		return nil, nil, err
	}
	f, problems, err := loadFleet(tree)
	if f == nil || err != nil {
		return nil, problems, err
	}
	return f.Fleet, nil, nil
}
