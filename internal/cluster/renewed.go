package cluster

import "net/http"

// renewed is a transport that sends a request again, once, when the API server refuses its credentials, for
// credentials that a program of the kubeconfig gets: those that have no date of expiry are used until they are
// refused. client-go then has the program run again, but returns the refusal (client-go 0.37.2,
// plugin/pkg/client/auth/exec/exec.go, RoundTrip). What was refused was not carried out, so a write may be sent again.
type renewed struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t renewed) RoundTrip(r *http.Request) (*http.Response, error) {
	again := r.Clone(r.Context()) // the first attempt adds its credentials to the request
	answer, err := t.next.RoundTrip(r)
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		return answer, err
	}
	if r.Body != nil && r.Body != http.NoBody {
		if r.GetBody == nil {
			return answer, nil
		}
		if again.Body, err = r.GetBody(); err != nil {
			return answer, nil //nolint:nilerr // the answer is what counts
		}
	}
	_ = answer.Body.Close()
	return t.next.RoundTrip(again)
}

// WrappedRoundTripper is for client-go, see retry.Silence.
func (t renewed) WrappedRoundTripper() http.RoundTripper { return t.next }
