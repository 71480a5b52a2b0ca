package plan

import (
	"fmt"
	"strings"
)

// otherCluster says why the reviewed plan does not belong to the present cluster; "" if it does.
// Whatever the API server's address, UIDs decide: that of kube-system, or else that of the
// release's namespace. If neither could be read both times, the API server must have the same
// address and a certificate from the same authority.
func otherCluster(reviewed, fresh *Plan) string {
	was, is := reviewed.Cluster, fresh.Cluster
	switch {
	case was.UID != "" && is.UID != "":
		if was.UID != is.UID {
			return fmt.Sprintf("it was made for another cluster, %s: kube-system had the UID %s there and has %s here (%s)", was.Server, was.UID, is.UID, is.Server)
		}
		return ""
	case was.NamespaceUID != "" && is.NamespaceUID != "":
		if was.NamespaceUID != is.NamespaceUID {
			return fmt.Sprintf("namespace %s had the UID %s and has %s now: it has been deleted and created again since, or this is another cluster (%s; the plan was made for %s)",
				fresh.Release.Namespace, was.NamespaceUID, is.NamespaceUID, is.Server, was.Server)
		}
		return ""
	}
	if differs := otherServer(was, is); differs != "" {
		return fmt.Sprintf("can't tell whether it was made for this cluster: the UID of neither kube-system nor namespace %s could be read both then and now, and %s", fresh.Release.Namespace, differs)
	}
	return ""
}

// otherServer says how two API servers differ, or why they can't be compared; "" if they are the
// same.
func otherServer(was, is Cluster) string {
	var differs []string
	if was.Server == "" || strings.TrimSuffix(was.Server, "/") != strings.TrimSuffix(is.Server, "/") {
		differs = append(differs, fmt.Sprintf("the API server was at %s and is at %s", was.Server, is.Server))
	}
	switch {
	case was.CA == "" || is.CA == "":
		differs = append(differs, "its certificate was not checked both times, so its address proves nothing")
	case was.CA != is.CA:
		differs = append(differs, "its certificate is checked against another authority")
	}
	return strings.Join(differs, "; ")
}
