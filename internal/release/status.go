package release

// Status is the state of a revision, in Helm's words.
type Status string

const (
	StatusUnknown         Status = "unknown"
	StatusDeployed        Status = "deployed"
	StatusUninstalled     Status = "uninstalled"
	StatusSuperseded      Status = "superseded"
	StatusFailed          Status = "failed"
	StatusUninstalling    Status = "uninstalling"
	StatusPendingInstall  Status = "pending-install"
	StatusPendingUpgrade  Status = "pending-upgrade"
	StatusPendingRollback Status = "pending-rollback"
)

// Pending says whether an operation is under way, or died while it was.
func (s Status) Pending() bool {
	switch s {
	case StatusPendingInstall, StatusPendingUpgrade, StatusPendingRollback, StatusUninstalling:
		return true
	case StatusUnknown, StatusDeployed, StatusUninstalled, StatusSuperseded, StatusFailed:
		return false
	}
	return false
}
