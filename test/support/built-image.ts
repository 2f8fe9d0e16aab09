// Builds the image with buildah from files of this machine: no registry, mirror or daemon.
import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const source = join(import.meta.dirname, '../..')
const name = 'localhost/gslbd:test'
/** Programs needed by the last stage of the Dockerfile, by bin/gslbd, and in an image. */
const programs = [
  ...['sh', 'id', 'git', 'groupadd', 'useradd', 'install', 'readlink', 'dirname', 'getconf'],
]
/** Start command and health check of a container, as a registry keeps them. */
interface ImageConfig {
  readonly User: string
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly Healthcheck: { readonly Test: readonly string[] }
}

export class BuiltImage {
  readonly #env: NodeJS.ProcessEnv
  readonly #container: string
  readonly config: ImageConfig

  /**
   * @param work folder for all of buildah's files
   * @param deb package with the program
   */
  constructor(work: string, deb: string) {
    const settings = join(work, 'storage.conf')
    const places = `graphroot = "${work}/graph"\nrunroot = "${work}/run"\n`
    // The driver copies files, which works on any file system, also in a container.
    writeFileSync(settings, `[storage]\ndriver = "vfs"\n${places}`)
    this.#env = { ...process.env, CONTAINERS_STORAGE_CONF: settings }
    const rootfs = baseOf(join(work, 'base'))
    const script = join(source, 'bin/package-image.ts')
    const options = ['--rootfs', rootfs, '--deb', deb, '--tag', name]
    this.#exec(process.execPath, script, ...options)
    const told = this.#exec('buildah', 'inspect', '--type', 'image', name)
    this.config = (JSON.parse(told) as { Docker: { config: ImageConfig } }).Docker.config
    this.#container = this.#exec('buildah', 'from', '--pull-never', name)
  }

  /** Runs a command in a container. @param before prefix that changes the network */
  async run(before: readonly string[], ...command: readonly string[]): Promise<string> {
    const [program = '', ...args] = [...before, ...this.#words([]), ...command]
    const { stdout } = await promisify(execFile)(program, args, { env: this.#env })
    return stdout.trim()
  }

  /** Starts a container with a directory as its volume. */
  start(before: readonly string[], volume: string): ChildProcess {
    const words = this.#words(['--volume', `${volume}:/var/lib/gslbd`])
    const { Entrypoint, Cmd } = this.config
    const [program = '', ...args] = [...before, ...words, ...Entrypoint, ...Cmd]
    return spawn(program, args, { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  #words(options: readonly string[]): readonly string[] {
    return ['buildah', 'run', '--isolation', 'chroot', ...options, this.#container, '--']
  }

  #exec(program: string, ...args: readonly string[]): string {
    return execFileSync(program, args, { env: this.#env, encoding: 'utf8', stdio: 'pipe' }).trim()
  }
}

/** Makes a tar of the programs and of the libraries that they and Node are linked with. */
function baseOf(folder: string): string {
  const paths = programs.map((program) => {
    return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8', env }).trim()
  })
  const linked = execFileSync('ldd', [...paths, process.execPath], { encoding: 'utf8' })
  const libraries = [...linked.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path)
  // As Debian has it.
  for (const merged of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(folder, 'usr', merged), { recursive: true })
    symlinkSync(`usr/${merged}`, join(folder, merged))
  }
  for (const path of new Set([...paths, ...libraries])) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    execFileSync('cp', ['--dereference', path, join(folder, path)])
  }
  for (const path of ['etc', 'tmp', 'var/lib']) mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  writeFileSync(join(folder, 'etc/group'), 'root:x:0:\n')
  const tar = `${folder}.tar`
  execFileSync('tar', ['--create', '--file', tar, '--directory', folder, '.'])
  return tar
}

const env = { PATH: `${process.env['PATH']}:/usr/sbin:/sbin`, LC_ALL: 'C' }
