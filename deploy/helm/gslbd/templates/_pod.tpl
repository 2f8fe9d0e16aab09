{{/*
The pod of a role: (dict "root" . "role" "control" "values" .Values.control "settings" "gslbd.yaml as text").
*/}}
{{- define "gslbd.pod" -}}
{{- $root := .root -}}
{{- $dns := eq .role "dns" -}}
metadata:
  labels:
    {{- include "gslbd.selector" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    # Other settings make other pods.
    checksum/settings: {{ sha256sum .settings }}
    {{- with .values.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  # The pause before the stop, the 28 s of a stop, and some more.
  terminationGracePeriodSeconds: 45
  securityContext:
    runAsNonRoot: true
    runAsUser: 5353
    runAsGroup: 5353
    fsGroup: 5353
    # Otherwise each start opens the private keys in the data directory to the group.
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- if and (not $dns) $root.Values.externalDns.enabled }}
  serviceAccountName: {{ include "gslbd.fullname" $root }}-external-dns
  {{- end }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  containers:
    - name: gslbd
      image: {{ include "gslbd.image" $root | quote }}
      {{- with $root.Values.image.pullPolicy }}
      imagePullPolicy: {{ . }}
      {{- end }}
      envFrom:
        - secretRef: { name: {{ ternary $root.Values.secrets.dnsEnvironment $root.Values.secrets.environment $dns | quote }} }
      env:
        - name: GSLB_NODE_NAME
          valueFrom: { fieldRef: { fieldPath: metadata.name } }
        {{- with .values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        {{- range list "udp" "tcp" }}
        - name: dns-{{ . }}
          containerPort: {{ $.values.settings.dns.port }}
          protocol: {{ upper . }}
          {{- if and $dns $root.Values.dns.hostPort }}
          hostPort: {{ $root.Values.dns.hostPort }}
          {{- end }}
        {{- end }}
        - name: api
          containerPort: {{ .values.settings.api.port }}
          protocol: TCP
      # Alive is not ready: before the first commit a node must not be started again for that.
      livenessProbe:
        httpGet: { path: /api/v1/health, port: api }
        periodSeconds: 10
        timeoutSeconds: 3
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /api/v1/ready, port: api }
        periodSeconds: 5
        timeoutSeconds: 3
      startupProbe:
        httpGet: { path: /api/v1/health, port: api }
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 60
      # It answers until nobody sends queries here any more.
      lifecycle: { preStop: { exec: { command: [sleep, '10'] } } }
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: settings, mountPath: /etc/gslbd/gslbd.yaml, subPath: gslbd.yaml }
        - { name: data, mountPath: /var/lib/gslbd }
        - { name: tmp, mountPath: /tmp }
        {{- if $dns }}
        - { name: keys, mountPath: /etc/gslbd/keys }
        {{- end }}
    {{- if and (not $dns) $root.Values.externalDns.enabled }}
    {{- include "gslbd.externalDns" $root | nindent 4 }}
    {{- end }}
  volumes:
    - name: settings
      configMap: { name: {{ include "gslbd.fullname" $root }}-{{ .role }} }
    - name: tmp
      emptyDir: {}
    {{- if $dns }}
    - name: data
      emptyDir: {}
    - name: keys
      secret: { secretName: {{ $root.Values.secrets.bundleKeys | quote }} }
    {{- end }}
    {{- if and (not $dns) $root.Values.externalDns.enabled }}
    # The account of external-dns, which is no other container's.
    - name: external-dns-account
      projected:
        sources:
          - serviceAccountToken: { path: token, expirationSeconds: 3600 }
          - configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] }
          - downwardAPI: { items: [{ path: namespace, fieldRef: { fieldPath: metadata.namespace } }] }
    {{- end }}
  {{- with .values.pod }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
