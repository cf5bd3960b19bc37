package core

// The cluster's configuration files that are changed under a lock.
const (
	UserLock    = "file-user_cfg"
	HALock      = "domain-ha"
	RealmLock   = "file-domains_cfg"
	StorageLock = "file-storage_cfg"
)

// Active tells whether a user is there, enabled and not expired.
func (s *State) Active(user string) bool {
	u := s.ACL.Users[user]
	return u != nil && u.Enable && (u.Expire == 0 || u.Expire > s.Unix())
}

// LoginError is a refusal of a sign-in by its endpoint: it comes late, against guessing.
type LoginError struct{ *APIError }

// Unwrap is the error that has a status.
func (e *LoginError) Unwrap() error { return e.APIError }

// AuthenticationFailure is the refusal of a sign-in; it is answered late.
func AuthenticationFailure() error {
	return &LoginError{&APIError{Status: 401, Message: "authentication failure"}}
}
