package releaseset

import "testing"

// However its URL is written, a repository is the same one.
func TestLocationsOfRepositories(t *testing.T) {
	for want, urls := range map[string][]string{
		"example.com/shop/fleet": {
			"https://example.com/shop/fleet", "https://example.com/shop/fleet.git", "https://example.com/shop/fleet.git/", "http://EXAMPLE.com/Shop/Fleet/",
			"https://x-access-token:canary@example.com/shop/fleet", "https://user:can/ary@example.com/shop/fleet.git", "https://example.com:8443/shop/fleet?x=1",
			"ssh://git@example.com/shop/fleet", "ssh://git@example.com:2222/shop/fleet.git", "ssh://git@ssh.example.com:443/shop/fleet", "git+ssh://example.com/shop/fleet",
			"git@example.com:shop/fleet.git", "example.com:shop/fleet", "git@example.com:/shop/fleet", " git://example.com/shop/fleet\n",
			"https://example.com/scm/shop/fleet.git", "git@altssh.example.com:shop/fleet.git",
		},
		"dev.azure.com/org/project/fleet": {"https://org@dev.azure.com/org/project/_git/fleet", "git@ssh.dev.azure.com:v3/org/project/fleet"},
		"":                                {"", "fleet", "../fleet", "./a:b", "/srv/git/fleet.git", "file:///srv/git/fleet.git", `C:\git\fleet`, "https://example.com/", "https://"},
	} {
		for _, url := range urls {
			if got := Location(url); got != want {
				t.Errorf("%q: %q, want %q", url, got, want)
			}
		}
	}
}

func TestLikenessOfACheckout(t *testing.T) {
	fork := []string{"git@example.com:me/fleet.git", "/srv/mirror/other"}
	for _, c := range []struct {
		remotes []string
		url     string
		want    Likeness
	}{
		{fork, "https://example.com/me/fleet", Same},
		{append(fork, "https://token@example.com/shop/fleet"), "ssh://git@example.com/shop/fleet", Same},
		{fork, "https://example.com/shop/fleet", Namesake},
		{fork, "https://mirror.example.net/fleet.git", Namesake},
		{fork, "https://example.com/me/charts", Other},
		{fork, "https://example.com/me/fleet-2", Other},
		{fork, "/srv/mirror/other", Incomparable},
		{nil, "https://example.com/me/fleet", Incomparable},
		{[]string{"../fleet"}, "https://example.com/me/charts", Incomparable},
	} {
		if got := (Checkout{Remotes: c.remotes}).Compare(c.url); got != c.want {
			t.Errorf("%q, %s: %d, want %d", c.remotes, c.url, got, c.want)
		}
	}
}
