{{- define "gateway.name" -}}
{{ .Release.Name }}-{{ .part }}
{{- end }}

{{- define "gateway.labels" -}}
app.kubernetes.io/name: generation-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .part }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "gateway.selector" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "gateway.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "gateway.env" -}}
envFrom:
  - configMapRef: { name: {{ .Release.Name }}-env }
  - secretRef: { name: {{ .Values.existingSecret }} }
{{- end }}

{{- define "gateway.security" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* The pod of any process of the gateway. */}}
{{- define "gateway.pod" -}}
metadata:
  labels: {{- include "gateway.labels" . | nindent 4 }}
  annotations:
    checksum/env: {{ toYaml .Values.env | sha256sum }}
    prometheus.io/scrape: 'true'
    prometheus.io/port: '9464'
spec:
  automountServiceAccountToken: false
  # Longer than drain and grace together, so that running steps reach their end.
  terminationGracePeriodSeconds: {{ add .Values.shutdown.drainSeconds .Values.shutdown.graceSeconds 15 }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- include "gateway.selector" . | nindent 10 }}
  containers:
    - name: {{ .part }}
      image: {{ include "gateway.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [{{ .part }}]
      {{- include "gateway.env" . | nindent 6 }}
      {{- include "gateway.security" . | nindent 6 }}
      ports:
        {{- if eq .part "api" }}
        - { name: http, containerPort: 3000 }
        {{- end }}
        - { name: ops, containerPort: 9464 }
      startupProbe:
        httpGet: { path: /healthz, port: ops }
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet: { path: /healthz, port: ops }
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet: { path: /readyz, port: ops }
        periodSeconds: 3
        timeoutSeconds: 4
        failureThreshold: 2
      resources: {{- toYaml .resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: data, mountPath: /data }
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
    - { name: data, emptyDir: { sizeLimit: 256Mi } }
{{- end }}
