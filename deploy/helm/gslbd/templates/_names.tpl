{{/* Names, labels and addresses that several templates say. */}}

{{- define "gslbd.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What never changes, so that a workload can select by it. */}}
{{- define "gslbd.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gslbd.labels" -}}
{{ include "gslbd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "gslbd.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "gslbd.controlSettings" -}}
{{- $own := dict -}}
{{- if .Values.externalDns.enabled -}}
{{- $own = dict "externalDns" (dict "enabled" true "tenant" .Values.externalDns.tenant) -}}
{{- end -}}
{{- toYaml (mergeOverwrite (deepCopy .Values.control.settings) $own) -}}
{{- end -}}

{{/* A node that only answers has to know where bundles are. */}}
{{- define "gslbd.dnsSettings" -}}
{{- $urls := .Values.dns.bundleUrls -}}
{{- if not $urls -}}
{{- if not .Values.control.enabled -}}
{{- fail "dns.bundleUrls is empty and control.enabled is false: say where the nodes get their bundles" -}}
{{- end -}}
{{- $control := printf "%s-control" (include "gslbd.fullname" .) -}}
{{- $urls = list (printf "http://%s-0.%s.%s.svc:8080" $control $control .Release.Namespace) -}}
{{- end -}}
{{- toYaml (mergeOverwrite (deepCopy .Values.dns.settings) (dict "bundle" (dict "urls" $urls))) -}}
{{- end -}}
