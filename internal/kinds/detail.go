package kinds

// Detail is one thing that a report says about an object to be created: "replicas 3".
type Detail struct {
	Show Show
	// Label stands before it; it may be empty.
	Label string
	// Path is the dotted path of the field; "" is the whole object.
	Path string
	// Key, for Names, is the field of a list's items whose values are shown.
	Key string
}

// Show is the form in which a field is shown.
type Show string

const (
	// Value is the field's value.
	Value Show = "value"
	// Images are the images of the containers of a pod's spec.
	Images Show = "images"
	// Ports are those of a Service.
	Ports Show = "ports"
	// DataKeys are the keys of a ConfigMap or Secret.
	DataKeys Show = "data keys"
	// Names are the values of Key in a list's items.
	Names Show = "names"
	// Reference is the kind and the name of another object.
	Reference Show = "reference"
	// Rules is how many rules a role has.
	Rules Show = "rules"
)

// podTemplate is the path of the pod spec in workloads.
const podTemplate = "spec.template.spec"

var replicasAndImages = []Detail{{Show: Value, Label: "replicas", Path: "spec.replicas"}, {Show: Images, Path: podTemplate}}

// Naming is what the API server requires of the names of a kind's objects, by the
// ValidateXName functions in GROUP/validation/validation.go of
// https://github.com/kubernetes/kubernetes/tree/v1.36.3/pkg/apis.
type Naming struct {
	Form NameForm
	// Max is how many characters are allowed; 0: as many as Form allows.
	Max int
	// Advised is how long a name may be for the label that is made of it for the
	// object's pods to be valid; 0 where there is no such label.
	Advised int
}

// NameForm is the form of a name.
type NameForm string

const (
	// Subdomain is a DNS subdomain (RFC 1123), the form of most names.
	Subdomain NameForm = ""
	// Label is a DNS label (RFC 1123).
	Label NameForm = "label"
	// PathSegment is anything that can be a segment of a URL's path.
	PathSegment NameForm = "path segment"
	// AnyName means that names are not checked.
	AnyName NameForm = "any"
)
