package simulator

// The cluster's configuration files that are changed under a lock.
const (
	userLock    = "file-user_cfg"
	haLock      = "domain-ha"
	realmLock   = "file-domains_cfg"
	storageLock = "file-storage_cfg"
)

// active tells whether a user is there, enabled and not expired.
func (s *state) active(user string) bool {
	u := s.acl.Users[user]
	return u != nil && u.Enable && (u.Expire == 0 || u.Expire > s.unix())
}

// loginError is a refusal of a sign-in by its endpoint: it comes late, against guessing.
type loginError struct{ *apiError }

func (e *loginError) Unwrap() error { return e.apiError }

func authenticationFailure() error {
	return &loginError{&apiError{status: 401, message: "authentication failure"}}
}
