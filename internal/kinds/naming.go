package kinds

// Naming is what the API server asks of the names of a kind's objects, by the
// ValidateXName functions of
// https://github.com/kubernetes/kubernetes/tree/v1.36.3/pkg/apis, in
// GROUP/validation/validation.go.
type Naming struct {
	Form NameForm
	// Max is how many characters are allowed; 0: as many as Form allows.
	Max int
	// Advised is how many fit into a label that is made of the name for an object's
	// pods, 0 where there is none.
	Advised int
}

// NameForm is the form of a name.
type NameForm string

const (
	// Subdomain is a DNS subdomain (RFC 1123), the form of most names.
	Subdomain NameForm = ""
	// Label is a DNS label (RFC 1123).
	Label NameForm = "label"
	// PathSegment is anything that can be a part of a URL's path.
	PathSegment NameForm = "path segment"
	// AnyName is not checked.
	AnyName NameForm = "any"
)
