{{/* The chart's name, as a label has it: at most 63 characters. */}}
{{- define "<CHARTNAME>.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/*
The name of the objects: RELEASE-CHART, or the release's alone where the chart's is in
it. It is at most 63 characters long, as DNS wants the names of Services.
*/}}
{{- define "<CHARTNAME>.fullname" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name }}
{{- $full := .Release.Name }}
{{- if not (contains $chart $full) }}
{{- $full = printf "%s-%s" $full $chart }}
{{- end }}
{{- .Values.fullnameOverride | default $full | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Chart and version, with the characters that a label may have. */}}
{{- define "<CHARTNAME>.chart" -}}
{{ print .Chart.Name "-" .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Labels by which Services and Deployments find their Pods: they must never change. */}}
{{- define "<CHARTNAME>.selectorLabels" -}}
app.kubernetes.io/name: {{ include "<CHARTNAME>.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of every object. */}}
{{- define "<CHARTNAME>.labels" -}}
{{ include "<CHARTNAME>.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Chart.AppVersion }}
app.kubernetes.io/version: {{ quote . }}
{{- end }}
helm.sh/chart: {{ include "<CHARTNAME>.chart" . }}
{{- end }}

{{/* The account that the Pods run as. */}}
{{- define "<CHARTNAME>.serviceAccountName" -}}
{{- $otherwise := ternary (include "<CHARTNAME>.fullname" .) "default" (not (not .Values.serviceAccount.create)) }}
{{- .Values.serviceAccount.name | default $otherwise }}
{{- end }}
