package budget

import (
	"reflect"
	"strings"
	"time"
)

// weight is what a call of a function costs in steps, on top of the nodes that it
// consists of: a step for each 0.15 to 0.3 µs that BenchmarkWeights measures.
type weight struct {
	// Call is for any call.
	Call int
	// Bytes is how many bytes of the texts among the arguments cost another step.
	Bytes int
}

// ordinary returns the weight of most functions.
func ordinary() weight { return weight{Call: 3, Bytes: 32} }

// weightOf returns the weight of the template function with that name.
func weightOf(name string) weight {
	w := ordinary()
	switch name {
	case "dateInZone", "date_in_zone", "htmlDateInZone":
		w.Call = 400 // reads the zone from a file
	case "regexMatch", "mustRegexMatch", "regexFind", "mustRegexFind", "regexFindAll", "mustRegexFindAll", "regexSplit", "mustRegexSplit",
		"regexReplaceAll", "mustRegexReplaceAll", "regexReplaceAllLiteral", "mustRegexReplaceAllLiteral":
		w = weight{Call: 20, Bytes: copiedBytes}
	case "toYamlPretty", "fromYamlArray", "toToml", "mustToToml", "fromToml":
		w = weight{Call: 50, Bytes: copiedBytes}
	case "semver", "semverCompare":
		w = weight{Call: 50, Bytes: 1}
	case "encryptAES", "decryptAES":
		w.Call = 30
	case "toJson", "mustToJson", "toPrettyJson", "mustToPrettyJson", "toRawJson", "mustToRawJson",
		"fromJson", "fromJsonArray", "mustFromJson", "deepCopy", "mustDeepCopy", "urlParse", "shuffle", "initials", "seq":
		w.Call = 10
	case "cat", "print", "println", "printf", "toYaml", "mustToYaml", "fromYaml", "dict", "list", "tuple", "set", "unset", "get", "hasKey",
		"default", "coalesce", "ternary", "empty", "eq", "ne", "hasPrefix", "hasSuffix", "len", "trunc", "trimPrefix", "trimSuffix":
		w.Bytes = copiedBytes
	case "camelcase", "snakecase", "kebabcase", "swapcase", "title", "date":
		w = weight{Call: 10, Bytes: 2}
	}
	switch {
	case strings.HasPrefix(name, "rand"):
		w.Call = 20
	case countsOn(name):
		w = weight{Call: 10, Bytes: 2}
	}
	return w
}

// countsOn reports whether a function converts whatever it is given to numbers or
// durations. What can't be converted ends up, whole, in an error that nobody sees.
func countsOn(name string) bool {
	switch name {
	case "int", "int64", "float64", "atoi", "toDecimal", "add", "add1", "sub", "div", "mod", "mul", "max", "min", "biggest",
		"addf", "add1f", "subf", "divf", "mulf", "maxf", "minf", "round", "ceil", "floor", "mustToDuration":
		return true
	}
	return strings.HasPrefix(name, "duration")
}

// KeyTime returns the processor time that making or reading keys, or deriving them from passwords, takes on average:
// an RSA key is made by trying numbers until two are prime, so one may take three
// times as long as another.
func KeyTime(name string, args []any) time.Duration {
	switch name {
	case "derivePassword":
		return derived
	case "bcrypt", "htpasswd":
		return hashed
	case "genPrivateKey":
		return keyTimeOf(text(args[0]))
	case "genCA", "genSelfSignedCert", "genSignedCert":
		return rsa2048 + signing(args)
	case "genCAWithKey", "genSelfSignedCertWithKey", "genSignedCertWithKey", "buildCustomCert":
		return signing(args)
	}
	return 0
}

// Processor times, measured by BenchmarkKeyTimes.
const (
	rsa2048 = 100 * time.Millisecond
	rsa4096 = 800 * time.Millisecond
	dsa2048 = 800 * time.Millisecond
	onCurve = 100 * time.Microsecond
	hashed  = 60 * time.Millisecond
	derived = 200 * time.Millisecond
)

func keyTimeOf(kind string) time.Duration {
	switch kind {
	case "", "rsa":
		return rsa4096
	case "dsa":
		return dsa2048
	}
	return onCurve
}

// signing returns the time that it takes to read the keys that a call is given and
// to sign with them, which grows with the cube of their length.
func signing(args []any) time.Duration {
	const length, takes = 1700, 4 * time.Millisecond // RSA, 2,048 bits, as PEM
	sum := time.Duration(0)
	for _, a := range args {
		n := float64(pemLength(a)) / length
		sum += time.Duration(min(n*n*n, 1e6) * float64(takes))
	}
	return sum
}

// pemLength returns the length of a text, or of the longest text in a certificate,
// whose type sprig does not export.
func pemLength(v any) int {
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.String:
		return rv.Len()
	case reflect.Struct:
		n := 0
		for i := range rv.NumField() {
			n = max(n, pemLength(rv.Field(i).String()))
		}
		return n
	}
	return 0
}
