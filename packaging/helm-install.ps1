# What "helm plugin install" and "helm plugin update" run on Windows; see helm-install.sh.
$ErrorActionPreference = 'Stop'
Set-Location $env:HELM_PLUGIN_DIR

$version = (Select-String -Path plugin.yaml -Pattern '^version: *"?([^"]*)"?$').Matches[0].Groups[1].Value
if ((Test-Path kubectl-release.exe) -and ((& ./kubectl-release.exe version --short) -in $version, "$version-dev")) {
  Write-Output "kubectl-release $version is already installed."
  exit 0
}
$arch = if ($env:PROCESSOR_ARCHITECTURE -eq 'ARM64') { 'arm64' } else { 'amd64' }
$from = if ($env:KUBECTL_RELEASE_DOWNLOADS) { $env:KUBECTL_RELEASE_DOWNLOADS } else { 'https://github.com/kubectl-release/kubectl-release/releases/download' }
$base = "$from/v$version"
$archive = "kubectl-release_${version}_windows_${arch}.zip"
$work = New-Item -ItemType Directory -Path (Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid()))
try {
  foreach ($file in $archive, 'checksums.txt') {
    Invoke-WebRequest -UseBasicParsing -Uri "$base/$file" -OutFile (Join-Path $work $file)
  }
  $line = Select-String -Path (Join-Path $work 'checksums.txt') -Pattern ('^([0-9a-f]{64}) [ *]' + [Regex]::Escape($archive) + '$')
  $sum = (Get-FileHash -Algorithm SHA256 (Join-Path $work $archive)).Hash
  if (-not $line -or $sum -ne $line.Matches[0].Groups[1].Value) { throw "$archive is not what checksums.txt promises; nothing is installed" }
  Expand-Archive -Path (Join-Path $work $archive) -DestinationPath $work
  Move-Item -Force (Join-Path $work 'kubectl-release.exe') kubectl-release.exe
  Write-Output "kubectl-release $version is installed."
} finally {
  Remove-Item -Recurse -Force $work
}
