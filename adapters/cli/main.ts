#!/usr/bin/env node
import process from "node:process";
import { command } from "./command.ts";

// The code is set, not the process ended: what is written still has to reach its reader.
process.exitCode = await command(process.argv.slice(2), process);
