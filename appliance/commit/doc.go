// Package commit answers: how does what somebody clicks become a commit? Every change is a minimal edit of the YAML that people wrote, judged as a push
// would be, and committed in the person's name with the appliance's signature.
package commit
