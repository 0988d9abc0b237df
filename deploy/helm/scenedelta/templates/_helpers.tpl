{{/* Names and blocks that the templates share. */}}

{{- define "scenedelta.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "scenedelta.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "scenedelta.labels" -}}
{{ include "scenedelta.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "scenedelta.image" -}}
{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* A setting as text: YAML reads `on` as true and every number as a floating-point one; a list is joined by commas. */}}
{{- define "scenedelta.setting" -}}
{{- if kindIs "bool" . }}{{ ternary "on" "off" . }}
{{- else if kindIs "slice" . }}{{ join "," . }}
{{- else if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}
{{- else }}{{ toString . }}{{ end }}
{{- end }}

{{/* "on" if METRICS_AUTH is on. */}}
{{- define "scenedelta.metricsAuth" -}}
{{ include "scenedelta.setting" (.Values.settings.METRICS_AUTH | default "off") }}
{{- end }}

{{/* Variables of API, workers and publisher. The secret's keys come by envFrom. */}}
{{- define "scenedelta.env" -}}
- { name: HOST, value: 0.0.0.0 }
{{- with .root.Values.publicUrl }}
- { name: PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- if .root.Values.redis.enabled }}
- name: REDIS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ .root.Values.secretName }}, key: REDIS_PASSWORD } }
- { name: REDIS_URL, value: "redis://:$(REDIS_PASSWORD)@{{ include "scenedelta.name" .root }}-redis:6379" }
{{- else }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ .root.Values.secretName }}, key: REDIS_URL } }
{{- end }}
{{- if eq .root.Values.frames.storage "s3" }}
- { name: S3_FRAME_BUCKET, value: {{ .root.Values.frames.s3.bucket | quote }} }
- { name: S3_ENDPOINT, value: {{ .root.Values.frames.s3.endpoint | quote }} }
- { name: S3_REGION, value: {{ .root.Values.frames.s3.region | quote }} }
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- { name: {{ $name }}, value: {{ include "scenedelta.setting" $value | quote }} }
{{- end }}
{{- end }}

{{/* What all pods of the image have in common. */}}
{{- define "scenedelta.podSpec" -}}
serviceAccountName: {{ include "scenedelta.name" .root }}
automountServiceAccountToken: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
# SHUTDOWN_MS is 25 s; unfinished work goes back to the queue.
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  {{- with .root.Values.podIds }}{{ toYaml . | nindent 2 }}{{ end }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
volumes:
  - { name: tmp, emptyDir: {} }
  - name: data
    {{- if eq .root.Values.frames.storage "s3" }}
    emptyDir: {}
    {{- else }}
    persistentVolumeClaim:
      claimName: {{ .root.Values.frames.volume.existingClaim | default (printf "%s-frames" (include "scenedelta.name" .root)) }}
    {{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "scenedelta.selector" . | nindent 8 }}
{{- end }}

{{- define "scenedelta.container" -}}
envFrom:
  - secretRef: { name: {{ .root.Values.secretName }} }
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
securityContext: {{- include "scenedelta.securityContext" . | nindent 2 }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- end }}

{{- define "scenedelta.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "scenedelta.budget" -}}
{{- if .root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "scenedelta.name" .root }}-{{ .component }}
  labels: {{- include "scenedelta.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "scenedelta.selector" . | nindent 6 }}
{{- end }}
{{- end }}
