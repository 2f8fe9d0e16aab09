{{/* external-dns beside gslbd, whose webhook listens on loopback. */}}
{{- define "gslbd.externalDns" -}}
{{- with .Values.externalDns -}}
- name: external-dns
  image: {{ .image | quote }}
  args:
    - --provider=webhook
    - --webhook-provider-url=http://127.0.0.1:8888
    {{- range .sources }}
    - --source={{ . }}
    {{- end }}
    - --registry=txt
    - {{ printf "--txt-owner-id=%s" .ownerId | quote }}
    - --policy={{ .policy }}
    - --interval={{ .interval }}
    - --metrics-address=:7979
    {{- range .args }}
    - {{ . | quote }}
    {{- end }}
  ports:
    - { name: external-dns, containerPort: 7979, protocol: TCP }
  # No readiness of its own: a name that cannot be written takes no node out of service.
  livenessProbe:
    httpGet: { path: /healthz, port: external-dns }
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 6
  resources:
    {{- toYaml .resources | nindent 4 }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities: { drop: [ALL] }
  volumeMounts:
    - { name: external-dns-account, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true }
{{- end -}}
{{- end -}}
