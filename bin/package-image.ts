// Builds the image with buildah: the last stage of the Dockerfile, on the program built here.
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeDurably } from '#lib/durable-file.ts'
import { takeSteps } from './package-steps.ts'
import type { Steps } from './package-steps.ts'
import { putProgram, version } from './program-tree.ts'

const help = `npm run package:image -- [options]
  --tag NAME      the image's name, gslbd:${version} without it
  --base IMAGE    what it is made on, an image of a registry with apt-get: debian:12-slim
  --rootfs FILE   or a tar of files, with git, libatomic1 and libstdc++6 in it
                  Without both, mmdebstrap makes those files from Debian's packages.
  --deb FILE      takes the program from a Debian package; without it, builds it here
  --output FILE   writes the image to a file as well, for "docker load" and "podman load"`

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    tag: { type: 'string', default: `gslbd:${version}` },
    base: { type: 'string' },
    rootfs: { type: 'string' },
    deb: { type: 'string' },
    output: { type: 'string', short: 'o' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(help)
  process.exit(0)
}

/** Packages that the last stage installs with apt-get, and a shell with useradd. */
const debianPackages = 'ca-certificates,git,libatomic1,libstdc++6,openssh-client,passwd'
await takeSteps('image', async (steps) => {
  const { stage, say, run } = steps
  const program = join(stage, 'program')
  if (values.deb === undefined) await putProgram(program, steps)
  else await takeProgram(values.deb, program, steps)
  mkdirSync(join(stage, 'deploy/image'), { recursive: true })
  cpSync(join(root, 'deploy/image'), join(stage, 'deploy/image'), { recursive: true })
  if (values.base === undefined) await putFiles(join(stage, 'root.tar'), steps)
  writeFileSync(join(stage, 'Dockerfile'), dockerfile())
  const file = ['--file', join(stage, 'Dockerfile')]
  // Only the docker format keeps the health check.
  const how = ['--format', 'docker', '--layers=false', '--tag', values.tag]
  const from = ['--build-context', `program=${stage}`]
  say(`building the image ${values.tag}`)
  await run('buildah', 'build', ...how, ...from, ...file, stage)
  const { output } = values
  if (output === undefined) return
  say(`writing ${output}`)
  await makeDurably(output, (part) =>
    run('buildah', 'push', values.tag, `docker-archive:${part}:${values.tag}`),
  )
})

async function putFiles(tar: string, { say, run }: Steps): Promise<void> {
  if (values.rootfs !== undefined) {
    cpSync(values.rootfs, tar)
    return
  }
  const without = ['/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*']
  const options = without.map((path) => `--dpkgopt=path-exclude=${path}`)
  // The files end in a tar, so apt need not flush each of them.
  const quick = ['--aptopt=Acquire::Retries "3"', '--dpkgopt=force-unsafe-io']
  const what = ['--variant=essential', `--include=${debianPackages}`, 'bookworm', tar]
  say('making the base of packages of Debian')
  await run('mmdebstrap', ...quick, ...options, ...what)
}

/**
 * Takes the program from a Debian package, without files that an image does not use: the unit, the
 * settings of a machine.
 */
async function takeProgram(deb: string, to: string, { stage, say, run }: Steps): Promise<void> {
  const all = join(stage, 'deb')
  say(`taking the program from ${deb}`)
  await run('dpkg-deb', '--extract', deb, all)
  mkdirSync(join(to, 'usr/lib'), { recursive: true })
  renameSync(join(all, 'usr/lib/gslbd'), join(to, 'usr/lib/gslbd'))
  renameSync(join(all, 'usr/bin'), join(to, 'usr/bin'))
}

/**
 * Returns the last stage of the Dockerfile; the program comes from here instead of the first stage.
 */
function dockerfile(): string {
  const [, last] = readFileSync(join(root, 'Dockerfile'), 'utf8').split('\nFROM ${BASE}\n')
  if (last === undefined) throw new Error('the Dockerfile has no stage "FROM ${BASE}"')
  return values.base === undefined
    ? `FROM scratch\nADD root.tar /\n${last}`
    : `FROM ${values.base}\n${last}`
}
