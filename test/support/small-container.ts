// Preloaded into a process: makes it believe in a container of TEST_MEMORY octets, and puts it into
// the control group TEST_CGROUP, if there is one.
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const { TEST_CGROUP: procs = '', TEST_MEMORY: bytes = '' } = process.env
if (isMainThread && procs !== '') writeFileSync(procs, String(process.pid))
if (bytes !== '') process.constrainedMemory = () => Number(bytes)
