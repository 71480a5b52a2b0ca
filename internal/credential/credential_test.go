package credential

import "testing"

func TestNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "rootPassword": true, "DB_PASSWORD": true, "password2": true, "apiKey": true, "api-key": true,
		"AWS_SECRET_ACCESS_KEY": true, "client_secret": true, "authToken": true, "tls.privateKey": true, "PGPASSWORD": true,
		"existingSecret": false, "imagePullSecrets": false, "secretName": false, "passwordKey": false, "tokenTTL": false,
		"accessTokens": false, "dsn": true, "DATABASE_DSN_1": true, "credentials": true, "2": false,
		"DB_PASS": true, "smtpPass": true, "pass": true, "PASS": true, "pass1": true, "bypass": false, "BYPASS": false, "by-p-ass": false, "ass": false,
		"SECRET_KEY_BASE": true, "AccountKey": true, "JWT": true, "GITHUB_PAT": true, "pat": true, "compat": false, "path": false,
		"secretKeyRef": false, "key": false, "image": false, "": false, "automountServiceAccountToken": true,
	} {
		if got := Named(name); got != want {
			t.Errorf("Named(%q) = %v", name, got)
		}
	}
}
