// Makes the Debian package: the built program, its packages and its Node below /usr/lib/gslbd.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeDurably } from '#lib/durable-file.ts'
import { manPage } from './man-page.ts'
import { takeSteps } from './package-steps.ts'
import { putProgram, version as packaged } from './program-tree.ts'
import { runCompletion } from './shell-completion.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    output: { type: 'string', short: 'o', default: root },
    compression: { type: 'string', default: 'xz' },
    // dist/ is there already.
    built: { type: 'boolean', default: false },
    version: { type: 'string' },
  },
})
const version = values.version ?? packaged
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
const architecture = architectures[process.arch]
if (architecture === undefined) throw new Error(`there is no Debian package for ${process.arch}`)
/** Files for a Prometheus and a Grafana on other machines. */
const monitoring = [
  'prometheus/alerts.yaml',
  ...['fleet', 'node', 'tenant'].map((board) => `grafana/gslbd-${board}.json`),
]

const packageFile = join(values.output, `gslbd_${version}_${architecture}.deb`)
await takeSteps('deb', async ({ stage, say, run }) => {
  await putProgram(stage, { say, run }, values.built)
  await putSystemFiles(stage)
  putControl(stage)
  say(`writing ${packageFile}`)
  const how = ['--root-owner-group', `-Z${values.compression}`]
  await makeDurably(packageFile, (part) => run('dpkg-deb', ...how, '--build', stage, part))
  console.log(packageFile)
})

function put(stage: string, path: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(join(stage, path)), { recursive: true })
  writeFileSync(join(stage, path), content)
  chmodSync(join(stage, path), mode)
}

async function putSystemFiles(stage: string): Promise<void> {
  const deploy = (path: string): string => readFileSync(join(root, 'deploy', path), 'utf8')
  put(stage, 'lib/systemd/system/gslbd.service', deploy('systemd/gslbd.service'))
  put(stage, 'etc/gslbd/gslbd.yaml', deploy('debian/gslbd.yaml'))
  put(stage, 'usr/share/man/man1/gslbd.1', await manPage())
  put(stage, 'usr/share/bash-completion/completions/gslbd', await runCompletion('bash'))
  put(stage, 'usr/share/zsh/vendor-completions/_gslbd', await runCompletion('zsh'))
  put(stage, 'usr/share/fish/vendor_completions.d/gslbd.fish', await runCompletion('fish'))
  for (const file of monitoring) put(stage, `usr/share/doc/gslbd/${file}`, deploy(file))
  const terms = ['LICENSE', 'NOTICE'].map((file) => readFileSync(join(root, file), 'utf8'))
  put(stage, 'usr/share/doc/gslbd/copyright', terms.join('\n'))
}

function putControl(stage: string): void {
  put(
    stage,
    'DEBIAN/control',
    `Package: gslbd
Version: ${version}
Architecture: ${architecture ?? ''}
Maintainer: The maintainers of gslbd <https://github.com/gslbd/gslbd/issues>
Homepage: https://github.com/gslbd/gslbd
Section: net
Priority: optional
Depends: adduser, libatomic1, libc6, libstdc++6
Recommends: ca-certificates, git
Suggests: libgssapi-krb5-2
Description: authoritative DNS server with global load balancing
 Configured by signed YAML in Git, which is compiled into immutable bundles.
`,
  )
  put(stage, 'DEBIAN/conffiles', '/etc/gslbd/gslbd.yaml\n')
  for (const script of ['postinst', 'prerm', 'postrm']) {
    put(stage, `DEBIAN/${script}`, readFileSync(join(root, 'deploy/debian', script), 'utf8'), 0o755)
  }
}
