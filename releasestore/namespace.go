package releasestore

// Namespace is where the records of a namespace's releases are: there, unless the store is
// In another one.
func (s *Store) Namespace(releases string) string {
	reading, ok := s.backend.(retryingReads)
	if !ok {
		return releases
	}
	if b, ok := reading.backend.(relocated); ok {
		return b.there(location{namespace: releases}).namespace
	}
	return releases
}
