package resolve

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Scheme is the prefix of references to registries.
const Scheme = "oci://"

// IsRegistry reports whether a reference points to a registry.
func IsRegistry(ref string) bool { return strings.HasPrefix(ref, Scheme) }

// misspelt reports whether a text looks like a reference to a registry without being one: oci:HOST/PATH,
// oci:/HOST/PATH, OCI://HOST/PATH.
func misspelt(ref string) bool {
	scheme, _, ok := strings.Cut(ref, ":")
	return ok && strings.EqualFold(scheme, "oci") && !IsRegistry(ref)
}

// publicImage returns a reference to a registry, which may be misspelt, without user and password.
func publicImage(ref string) string {
	scheme, rest, _ := strings.Cut(ref, ":")
	name := strings.TrimLeft(rest, "/")
	slashes := rest[:len(rest)-len(name)]
	end := len(name)
	if i := strings.Index(name, "@sha256:"); i >= 0 {
		end = i
	}
	return scheme + ":" + slashes + name[strings.LastIndexByte(name[:end], '@')+1:]
}

// Image is a chart in a registry, oci://HOST/PATH[:TAG][@DIGEST].
type Image struct {
	// Host may have a port.
	Host, Path string
	// Tag is the tag in the registry, where _ replaces the + of a version; "" when none was given.
	Tag string
}

// String returns the reference as users write it.
func (i Image) String() string {
	text := Scheme + i.Host + "/" + i.Path
	if i.Tag != "" {
		text += ":" + i.Tag
	}
	return text
}

// Name returns the last element of the path, which is the chart's name.
func (i Image) Name() string { return i.Path[strings.LastIndexByte(i.Path, '/')+1:] }

// The grammar of names and tags:
// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#pulling-manifests
var (
	imageHost  = regexp.MustCompile(`^([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?$`)
	imagePath  = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagLetters = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]*$`)
	lowerHex   = regexp.MustCompile(`^[0-9a-f]+$`)
)

// isTag and isSHA256 check lengths themselves: a regular expression with a repeat count is compiled
// to that many copies each time the program starts.
func isTag(text string) bool   { return len(text) <= 128 && tagLetters.MatchString(text) }
func isSHA256(hex string) bool { return len(hex) == 64 && lowerHex.MatchString(hex) }

// ParseImage parses oci://HOST/PATH[:TAG][@DIGEST].
func ParseImage(text string) (i Image, digest string, err error) {
	rest, ok := strings.CutPrefix(text, Scheme)
	if !ok {
		return i, "", fmt.Errorf("%s does not begin with %s", text, Scheme)
	}
	authority, _, _ := strings.Cut(rest, "/")
	if strings.Contains(authority, "@") {
		return i, "", fmt.Errorf("%s: a reference to a registry has no user or password: use registry login", publicImage(text))
	}
	if rest, digest, err = splitDigest(rest); err != nil {
		return i, "", fmt.Errorf("%s: %w", text, err)
	}
	i.Host, i.Path, _ = strings.Cut(rest, "/")
	if at := strings.LastIndexByte(i.Path, ':'); at > strings.LastIndexByte(i.Path, '/') {
		i.Path, i.Tag = i.Path[:at], TagOf(i.Path[at+1:])
		if !isTag(i.Tag) {
			return i, "", fmt.Errorf("%s: %q is not a tag", text, i.Tag)
		}
	}
	switch {
	case !imageHost.MatchString(i.Host):
		return i, "", fmt.Errorf("%s: %q is not the name of a registry", text, i.Host)
	case !imagePath.MatchString(i.Path) || len(i.Path) > 255:
		return i, "", fmt.Errorf("%s: %q is not the path of an image: use lower-case letters, digits, and . _ - between them", text, i.Path)
	}
	return i, digest, nil
}

// splitDigest splits off "@sha256:…".
func splitDigest(text string) (rest, digest string, err error) {
	rest, digest, ok := strings.Cut(text, "@")
	if !ok {
		return text, "", nil
	}
	digest, err = Digest(digest)
	return rest, digest, err
}

// Digest checks a SHA-256 digest given with or without the prefix "sha256:", and returns it with
// the prefix.
func Digest(text string) (string, error) {
	hex := strings.TrimPrefix(text, "sha256:")
	if !isSHA256(hex) {
		return "", fmt.Errorf("%q is not a digest: expected sha256: and 64 hexadecimal digits", text)
	}
	return "sha256:" + hex, nil
}

// TagOf converts a version to a tag, which can't contain a + (Helm 4.3.1, pkg/registry/reference.go).
func TagOf(version string) string { return strings.ReplaceAll(version, "+", "_") }

// VersionOf converts a tag to a version.
func VersionOf(tag string) string { return strings.ReplaceAll(tag, "_", "+") }

// registry returns a reference to a chart in a registry. The tag comes from --tag, the reference,
// or an exact version; for a range it is chosen later among the registry's tags.
func (r Reference) registry(text, tag string) (Reference, error) {
	image, digest, err := ParseImage(text)
	if err != nil {
		return Reference{}, err
	}
	if digest != "" && r.Digest != "" && digest != r.Digest {
		return Reference{}, fmt.Errorf("%s and --version name different digests", text)
	}
	if digest != "" {
		r.Digest = digest
	}
	if tag != "" {
		if tag != TagOf(tag) || !isTag(tag) {
			return Reference{}, fmt.Errorf("--tag %s is not a tag", tag)
		}
		if r.Version.Version != "" || image.Tag != "" && image.Tag != tag {
			return Reference{}, fmt.Errorf("--tag %s already selects the chart of %s: give no other version", tag, text)
		}
		image.Tag = tag
	}
	version := r.Version.Version
	switch {
	case version == "":
	case image.Tag != "" && image.Tag != TagOf(version):
		return Reference{}, fmt.Errorf("%s and --version %s are different versions", text, version)
	case r.Version.Exact():
		image.Tag = TagOf(version)
	}
	r.Kind, r.Image = Registry, image
	return r, nil
}

// amongTags says which tags a range is looked up among, "" for Helm's rules.
func (r Reference) amongTags() string {
	text := ""
	switch {
	case r.Tags == AnyTag:
		text = " of all tags"
	case r.Tags != "":
		text = " of tags " + r.Tags
	}
	if r.PlusTags {
		text += " (_ for +)"
	}
	return text
}

// Wants returns the image with its tag or, if that has yet to be chosen, with the range of versions
// and the tags that it is chosen among.
func (r Reference) Wants() string {
	if r.Image.Tag != "" {
		return r.Image.String()
	}
	return r.Image.String() + " " + r.Version.String() + r.amongTags()
}

// ChooseTag returns the registry's tag with the highest wanted version. Tags that are not semantic
// versions do not count. Errors: *NoVersionError; Tags is not a regular expression.
func (r Reference) ChooseTag(tags []string) (string, error) {
	if len(tags) == 0 {
		return "", errors.New(r.Image.String() + " has no tags")
	}
	versions := versionsOf(tags)
	if r.Tags != "" {
		expression, err := regexp.Compile(r.Tags)
		if err != nil {
			return "", fmt.Errorf("%s: the regular expression for tags: %w", r.Image, err)
		}
		versions = nil
		for _, tag := range tags {
			version := tag
			if r.PlusTags {
				version = VersionOf(tag)
			}
			if strings.Count(version, ".") >= 2 && expression.MatchString(tag) {
				versions = append(versions, version)
			}
		}
	}
	i, err := Choose(versions, r.Version)
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.Image, err)
	}
	return TagOf(versions[i]), nil
}
